"""Addresses of remotes: which kinds there are, and how they are shown."""

import re
from typing import Final

from cohabit.errors import BadArgs

SCHEMES: Final = ("https", "http", "ssh", "git", "file")
ADDRESS: Final = re.compile(rf"(?:{'|'.join(SCHEMES)})://[^\s\x00-\x1f-][^\s\x00-\x1f]*")
SCP_LIKE: Final = re.compile(
    r"(?:[A-Za-z0-9][A-Za-z0-9._-]*@)?[A-Za-z0-9][A-Za-z0-9._-]*:[^:\s\x00-\x1f-][^\s\x00-\x1f]*"
)
"""``git@host:path``. A second colon right after the first one would be a remote helper (``ext::``)."""

BEFORE_THE_HOST: Final = re.compile(r"(?<=://)[^\s/]*@")
"""Up to the last @: a password may have one in it."""


def is_remote(url: str) -> bool:
    """Whether ``url`` is an address, or the path of a repository on this machine, and nothing that starts a program."""
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
    """An address, or a text with addresses in it, without what stands before a host: it may be a token. Only of ssh
    the user is kept, who is a part of the way there."""
    return BEFORE_THE_HOST.sub(_user_of_ssh, text)


def _user_of_ssh(found: re.Match[str]) -> str:
    user = found[0][:-1].partition(":")[0]
    return f"{user}@" if user and found.string.endswith("ssh://", 0, found.start()) else ""
