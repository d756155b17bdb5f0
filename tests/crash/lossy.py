"""A disk that loses every write that was not synced: builds lossy.c, starts its image, reads what is left.

    shim = build("cc", tmp)
    process = subprocess.Popen(command, env=environment(shim, data, tmp / "shadow"))
    ...  # take acknowledgements, then process.kill()
    surviving(tmp / "shadow", tmp / "after")  # restart on this folder

What counts as durable, and how the shadow is laid out, is said in lossy.c.
"""

import fcntl
import os
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

SOURCE = Path(__file__).with_name("lossy.c")


def build(cc: str, into: Path) -> Path:
    """Compile the shim with the C compiler `cc` and return the shared object, made in the folder `into`."""
    into.mkdir(parents=True, exist_ok=True)
    shim = into / "lossy.so"
    flags = ["-std=gnu11", "-O2", "-Wall", "-Wextra", "-shared", "-fPIC"]
    subprocess.run([cc, *flags, "-o", str(shim), str(SOURCE), "-ldl"], check=True)
    return shim


def environment(shim: Path, root: Path, shadow: Path) -> dict[str, str]:
    """The environment for a process, and its children, whose storage is `root`.

    The first call for a `shadow` takes what is in `root` as durable; later ones, say for a second process on
    the same folder, continue with the image there is. After a power cut, start with a new shadow.
    """
    root, shadow = root.resolve(), shadow.resolve()
    if shadow.is_relative_to(root):
        raise ValueError("the shadow must not be inside the folder it is the image of")
    root.mkdir(parents=True, exist_ok=True)
    if not shadow.exists():
        (shadow / "disk").mkdir(parents=True)
        (shadow / "inode").mkdir()
        (shadow / "root").write_text(_take(root, shadow / "disk"))
    preload = " ".join(filter(None, [str(shim.resolve()), os.environ.get("LD_PRELOAD")]))
    return {**os.environ, "LD_PRELOAD": preload, "LOSSY_ROOT": str(root), "LOSSY_SHADOW": str(shadow)}


def surviving(shadow: Path, into: Path) -> None:
    """Write the folder that a restart after a power cut would find, as the new folder `into`.

    The processes may still be running: the image is then that of one instant.
    """
    lock = os.open(shadow, os.O_RDONLY | os.O_DIRECTORY)
    try:
        fcntl.flock(lock, fcntl.LOCK_EX)
        _give(shadow / "disk", (shadow / "root").read_text(), into)
    finally:
        os.close(lock)


@dataclass
class Disk:
    """One folder on a lossy disk, over any number of power cuts."""

    shim: Path
    place: Path
    cuts: int = 0

    def __post_init__(self) -> None:
        self.root.mkdir(parents=True)

    @property
    def root(self) -> Path:
        return self.place / f"root-{self.cuts}"

    @property
    def shadow(self) -> Path:
        return self.place / f"shadow-{self.cuts}"

    def start(self, script: str, *arguments: object) -> subprocess.Popen[bytes]:
        return self.run([sys.executable, "-c", script, *map(str, arguments)])

    def run(self, command: list[str], **variables: str) -> subprocess.Popen[bytes]:
        return subprocess.Popen(
            command,
            cwd=self.root,
            env={**environment(self.shim, self.root, self.shadow), **variables},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            start_new_session=True,
        )

    def cut(self) -> Path:
        """The power goes; the root is now what was left."""
        before = self.shadow
        self.cuts += 1
        surviving(before, self.root)
        return self.root

    def after(self, script: str) -> dict[str, bytes]:
        """Run a script in the folder to its end, and return the files that a power cut then leaves."""
        with self.start(script) as process:
            process.communicate()
        assert process.returncode == 0
        image = self.cut()
        return {str(path.relative_to(image)): path.read_bytes() for path in image.rglob("*") if path.is_file()}


def _take(folder: Path, disk: Path) -> str:
    """Put `folder`, with all below it, on the disk as it is; return its id there."""
    entries: list[bytes] = []
    for path in sorted(folder.iterdir()):
        if path.is_symlink() or path.name.endswith("-shm"):
            continue
        if path.is_dir():
            kind, name = b"d", _take(path, disk)
        elif path.is_file():
            kind, name = b"f", _identity(path)
            shutil.copyfile(path, disk / name)
        else:
            continue
        entries.append(kind + name.encode() + b"/" + os.fsencode(path.name) + b"\0")
    name = _identity(folder)
    (disk / name).write_bytes(b"".join(entries))
    return name


def _give(disk: Path, name: str, into: Path) -> None:
    """Make the folder with the id `name` at `into`."""
    into.mkdir(parents=True)
    for entry in (disk / name).read_bytes().split(b"\0")[:-1]:
        identity, _, called = entry[1:].decode(errors="surrogateescape").partition("/")
        if entry.startswith(b"d"):
            _give(disk, identity, into / called)
        else:
            shutil.copyfile(disk / identity, into / called)


def _identity(path: Path) -> str:
    found = path.stat()
    return f"{found.st_dev:x}-{found.st_ino:x}.0"
