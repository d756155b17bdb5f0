"""Signed commits, for workspaces that want to know who wrote what. SSH keys only, and off unless set up.

A commit is shown as verified when its signature is good by a key in ``allowed_signers`` and that file gives the key to
the address of the commit's author. Another member's key is a good key, and still not theirs to write in your name.
"""

import contextlib
import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from cohabit.errors import BadArgs
from cohabit.workspace.person import config, identity

KEY: Final = "COHABIT_SIGNING_KEY"
SIGNERS: Final = "allowed_signers"
"""In the config folder; one line for each key, as ssh-keygen(1) describes it: ``ann@example.org ssh-ed25519 AAAA…``."""
PROGRAMS: Final = {
    "gpg.format": "ssh",
    "gpg.ssh.program": "ssh-keygen",
    "gpg.openpgp.program": "false",  # a commit that somebody signed with PGP starts no gpg here
    "gpg.x509.program": "false",
}
FORMAT: Final = ("%G?", "%GS")
"""What a log line needs for ``verdict``."""


@dataclass(frozen=True, slots=True)
class Signing:
    """The key we sign with, and the file that says whose key is whose. Either may be missing."""

    key: Path | None = None
    signers: Path | None = None

    def config(self) -> dict[str, str]:
        """The configuration under which git signs and checks."""
        settings = dict(PROGRAMS) if self.key or self.signers else {}
        if self.key:
            settings["user.signingKey"] = str(self.key)
        if self.signers:
            settings["gpg.ssh.allowedSignersFile"] = str(self.signers)
        return settings

    def option(self) -> list[str]:
        """What a command that makes a commit is told; BadArgs where the key that was named is not there."""
        if self.key is None:
            return []
        if not (self.key.is_absolute() and self.key.is_file()):
            raise BadArgs(
                f"the signing key is not there, so nothing was committed: {KEY} (or signing_key in the identity file) "
                "must be the whole path of a private SSH key"
            )
        return ["-S"]

    def environ(self) -> dict[str, str]:
        """A key with a passphrase is used through the person's ssh-agent; nothing asks for the passphrase."""
        agent = os.environ.get("SSH_AUTH_SOCK") if self.key else None
        return {"SSH_AUTH_SOCK": agent} if agent else {}


def configured(home: Path, environ: Mapping[str, str], client: str | None = None) -> Signing:
    """What is set up in the config folder ``home`` for this client; a wrong key is told when a commit needs it."""
    chosen = environ.get(KEY, "").strip() or _named(home, client)
    signers = home / SIGNERS
    return Signing(_path(chosen, environ) if chosen else None, signers if signers.is_file() else None)


def _path(key: str, environ: Mapping[str, str]) -> Path:
    """With the person's own folder for ``~``; what is not a whole path then is refused when a commit needs it."""
    return config.expanded(key, environ) if key.startswith("~/") else Path(key)


def _named(home: Path, client: str | None) -> str:
    """``signing_key`` of the identity file that counts first. What is wrong with a file is told when it is needed for
    the identity."""
    for name in [*identity.own_files(client), "identity.json"]:
        with contextlib.suppress(BadArgs):
            if key := config.text(config.read(home, name) or {}, "signing_key", name):
                return key
    return ""


def verdict(code: str, signer: str, email: str) -> dict[str, object]:
    """``verified`` of a commit by ``email`` (None: no SSH signature) and who signed it, by what ``FORMAT`` printed."""
    if code == "N":
        return {"verified": None}
    principals = signer.split(",")
    shown: dict[str, object] = {"verified": code == "G" and email in principals}
    return shown | {"signed_by": signer} if code == "G" else shown
