"""A session: an agent calls tools, and each call is logged."""

import time
from collections.abc import Callable, Mapping
from datetime import datetime
from pathlib import Path
from typing import Any

from cohabit.workspace import answers
from cohabit.workspace.answers import Answer
from cohabit.workspace.call_log import Call, CallLog, sizes
from cohabit.workspace.session_state import SessionState, local_now
from cohabit.workspace.tool import Profile
from cohabit.workspace.tools import find
from cohabit.workspace.workspace import Workspace


class Session(SessionState):
    """The session of one server, one command line or one member of a house."""

    def __init__(
        self,
        home: Path,
        environ: Mapping[str, str],
        *,
        profile: Profile = "full",
        now: Callable[[], datetime] = local_now,
        only: Workspace | None = None,
    ) -> None:
        super().__init__(home, environ, now, only)
        self.profile: Profile = profile
        self._call_log = CallLog(home / "logs")

    @classmethod
    def of(cls, workspace: Workspace, profile: Profile = "full") -> "Session":
        """A session for an open workspace and no other. Closing the session does not close the workspace."""
        return cls(workspace.state_folder, {}, profile=profile, now=workspace.now, only=workspace)

    def call(self, name: str, args: Mapping[str, Any]) -> Answer:
        """Call a tool and log the call. Raises CohabitError (``as_answer`` in ``answers`` turns it into JSON).
        May be called from several threads at once."""
        began, tool, failure = time.perf_counter(), None, None
        try:
            tool = find(name, self.profile)
            answer: Answer = answers.sendable(tool.call(self, args))
            return answer
        except Exception as error:
            failure = error
            raise answers.cleaned(answers.as_error(error), self.private_paths()) from error
        finally:
            ms = (time.perf_counter() - began) * 1000
            called = Call(
                at=self.now(),
                tool=tool.name if tool else "unknown",
                workspace=self._active,
                agent=self.agent_id(),
                ms=ms,
                sizes=sizes(args, tool.arguments if tool else ()),
                error=failure,
            )
            self._call_log.write(called)
