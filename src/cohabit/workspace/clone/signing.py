"""Signed commits, for workspaces that need to verify authors. SSH keys only, and off unless set up.

A commit is verified if its signature is valid, its key is in ``allowed_signers``, and that file lists the key for the
address of the commit's author: another member's valid key does not verify a commit in your name.
"""

import contextlib
import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from cohabit.errors import BadArgs
from cohabit.workspace.person import config, identity

KEY_VARIABLE: Final = "COHABIT_SIGNING_KEY"
SIGNERS_FILE: Final = "allowed_signers"
"""In the settings folder; one line for each key, as in ssh-keygen(1): ``ann@example.org ssh-ed25519 AAAA…``."""
PROGRAMS: Final = {
    "gpg.format": "ssh",
    "gpg.ssh.program": "ssh-keygen",
    "gpg.openpgp.program": "false",  # a commit with a PGP signature does not start gpg here
    "gpg.x509.program": "false",
}
FORMAT: Final = ("%G?", "%GS")
"""The log fields that ``verification`` needs."""


@dataclass(frozen=True, slots=True)
class Signing:
    """The key to sign with, and the file that lists the keys of all agents. Either may be missing."""

    key: Path | None = None
    signers: Path | None = None

    def config(self) -> dict[str, str]:
        """The configuration with which git signs and verifies."""
        settings = dict(PROGRAMS) if self.key or self.signers else {}
        if self.key:
            settings["user.signingKey"] = str(self.key)
        if self.signers:
            settings["gpg.ssh.allowedSignersFile"] = str(self.signers)
        return settings

    def option(self) -> list[str]:
        """The options for a command that makes a commit; BadArgs if the key does not exist."""
        if self.key is None:
            return []
        if not (self.key.is_absolute() and self.key.is_file()):
            raise BadArgs(
                f"the signing key does not exist, so nothing was committed: {KEY_VARIABLE} (or signing_key in the "
                "identity file) must be the absolute path of a private SSH key"
            )
        return ["-S"]

    def environ(self) -> dict[str, str]:
        """The person's ssh-agent, for a key with a passphrase; nothing asks for the passphrase."""
        agent = os.environ.get("SSH_AUTH_SOCK") if self.key else None
        return {"SSH_AUTH_SOCK": agent} if agent else {}


def configured(home: Path, environ: Mapping[str, str], client: str | None = None) -> Signing:
    """The settings of this client in the settings folder ``home``; a wrong key is reported when a commit needs it."""
    chosen = environ.get(KEY_VARIABLE, "").strip() or _key_of_identity(home, client)
    signers = home / SIGNERS_FILE
    return Signing(_path(chosen, environ) if chosen else None, signers if signers.is_file() else None)


def _path(key: str, environ: Mapping[str, str]) -> Path:
    """With ``~`` replaced; a path that is not absolute then is refused when a commit needs it."""
    return config.expanded(key, environ) if key.startswith("~/") else Path(key)


def _key_of_identity(home: Path, client: str | None) -> str:
    """``signing_key`` of the first identity file that has one. An invalid file is reported with the identity."""
    for name in [*identity.client_files(client), "identity.json"]:
        with contextlib.suppress(BadArgs):
            if key := config.text(config.read(home, name) or {}, "signing_key", name):
                return key
    return ""


def verification(code: str, signer: str, email: str) -> dict[str, object]:
    """``verified`` of a commit by ``email`` (None: no SSH signature) and ``signed_by``, from the fields of
    ``FORMAT``."""
    if code == "N":
        return {"verified": None}
    principals = signer.split(",")
    shown: dict[str, object] = {"verified": code == "G" and email in principals}
    return shown | {"signed_by": signer} if code == "G" else shown
