"""Git LFS, which a workspace does not support: the program that fetches the content of files is a filter, and no filter
of a pulled repository runs here. A repository that uses it is refused by ``workspace_init``. One that adopts it later
stays usable, because refusing it would lock out everybody; agents are told what they have.
"""

import re
from collections.abc import Iterable, Sequence
from typing import Final

from cohabit.errors import CohabitError
from cohabit.workspace.clone import objects
from cohabit.workspace.clone.clone import Clone
from cohabit.workspace.formats.quoting import listed

USED: Final = re.compile(r"^[^#\n]*\sfilter=lfs\b", re.MULTILINE)
"""A line of ``.gitattributes`` that keeps files in Git LFS."""
WHAT: Final = (
    "keeps files in Git LFS, which a workspace does not support: here those files are pointers of three lines without "
    "their content, and a file that you replace is shared as an ordinary one. Tell your user; `git lfs migrate export` "
    "turns all of them into ordinary files"
)


def is_attributes(path: str) -> bool:
    return path.rpartition("/")[2] == ".gitattributes"


def attributes_with_lfs(ws: Clone, commit: str) -> list[str]:
    """The ``.gitattributes`` files of a commit that keep files in Git LFS."""
    names = ws.git.run("ls-tree", "-r", "-z", "--full-tree", "--name-only", commit).fields
    return with_lfs(ws, {f"{commit}:{name}": name for name in names if is_attributes(name)})


def with_lfs(ws: Clone, paths: dict[str, str]) -> list[str]:
    """Those of the files, given as path by name of the object, that keep files in Git LFS."""
    return [paths[name] for name, text in objects.texts(ws, paths).items() if USED.search(text)]


def with_lfs_here(ws: Clone, changed: Iterable[str]) -> list[str]:
    """The same for the file in the root and those among ``changed``, as they are in the work tree."""
    found = []
    for path in dict.fromkeys([".gitattributes", *filter(is_attributes, changed)]):
        try:
            text = ws.tree.text(path) or ""
        except CohabitError:  # a link, or too large
            continue
        if USED.search(text):
            found.append(path)
    return found


def note(paths: Sequence[str]) -> str:
    return f"{listed(paths)} {WHAT}."
