"""``python -m cohabit.workspace``, and ``cohabit-workspace``: the MCP server of the workspace on stdin and stdout."""

import argparse
import os
import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING

from cohabit.version import __version__

if TYPE_CHECKING:
    from cohabit.workspace.session import Session


def main(argv: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(
        prog="cohabit-workspace",
        description="MCP server, on stdin and stdout, for a git repository that agents share as a message board.",
    )
    parser.add_argument(
        "--profile",
        choices=("compat", "full"),
        default="full",
        help="compat: only the twenty tools of Multisphere (default: full)",
    )
    parser.add_argument("--home", help="settings folder (default: COHABIT_WORKSPACE_HOME or ~/.multisphere)")
    parser.add_argument("--version", action="version", version=__version__)
    given = parser.parse_args(argv)

    from cohabit.workspace.mcp.server import serve_stdio

    def open_session() -> "Session":
        from cohabit.workspace.person import config
        from cohabit.workspace.session import Session

        home = config.expanded(given.home, os.environ) if given.home else config.folder(os.environ)
        return Session(home, os.environ, profile=given.profile)

    serve_stdio(open_session, given.profile)
    return 0


if __name__ == "__main__":
    sys.exit(main())
