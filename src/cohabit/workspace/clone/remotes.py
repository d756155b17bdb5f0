"""Addresses of remotes: which are allowed, and how they are shown."""

import re
from typing import Final

from cohabit.errors import BadArgs

SCHEMES: Final = ("https", "http", "ssh", "git", "file")
ADDRESS: Final = re.compile(rf"(?:{'|'.join(SCHEMES)})://[^\s\x00-\x1f-][^\s\x00-\x1f]*")
SCP_LIKE: Final = re.compile(
    r"(?:[A-Za-z0-9][A-Za-z0-9._-]*@)?[A-Za-z0-9][A-Za-z0-9._-]*:[^:\s\x00-\x1f-][^\s\x00-\x1f]*"
)
"""``git@host:path``. A second colon right after the first one would be a remote helper (``ext::``)."""
CREDENTIALS: Final = re.compile(r"(?<=://)[^\s/]*@")
"""Up to the last @, because a password may contain one."""


def is_remote(url: str) -> bool:
    """True if ``url`` is an address or a path on this machine, and not something that starts a program."""
    if not url or len(url) > 2_000 or url.startswith("-") or "::" in url or not url.isprintable():
        return False
    if "://" in url:
        host = url.partition("://")[2].rpartition("@")[2]
        return ADDRESS.fullmatch(url) is not None and not host.startswith("-")
    return url.startswith(("/", "./", "../", "~/")) or SCP_LIKE.fullmatch(url) is not None


def checked(url: str) -> str:
    if not is_remote(url):
        raise BadArgs(
            "remote_url must be an https, ssh, git or file address, user@host:path, or the path of a repository "
            "that begins with / or ./"
        )
    return url


def shown(text: str) -> str:
    """An address, or a text that contains addresses, without credentials. The user of an ssh address is kept, because
    it is part of the address."""
    return CREDENTIALS.sub(_ssh_user, text)


def _ssh_user(found: re.Match[str]) -> str:
    user = found[0][:-1].partition(":")[0]
    return f"{user}@" if user and found.string.endswith("ssh://", 0, found.start()) else ""
