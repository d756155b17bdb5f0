"""Build the MCP bundle of the workspace server: one file, which a desktop client installs without any registry.

python tools/bundle.py OUT.mcpb [MSGSPEC.whl …]

The bundle has the modules that the server needs, and msgspec, which is compiled: that of the Python that runs this
script, and those of the given wheels. It starts with the Pythons and platforms of these; Python itself and git are not
in it.
"""

import importlib.metadata
import json
import os
import platform
import re
import subprocess
import sys
import zipfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Final

ROOT: Final = Path(__file__).parent.parent
SOURCE: Final = ROOT / "src"
COMPILED: Final = "msgspec"
MODULES: Final = """
import importlib, pkgutil, sys
before = set(sys.modules)
import cohabit.workspace as workspace
for module in pkgutil.walk_packages(workspace.__path__, "cohabit.workspace."):
    importlib.import_module(module.name)
for name, module in sorted(sys.modules.items()):
    if name.partition(".")[0] == "cohabit":
        print(module.__file__)
    elif not (name in before or name.partition(".")[0] in {*sys.stdlib_module_names, "msgspec", "typing_extensions"}):
        sys.exit(f"{name} is needed as well")
"""
WHEEL: Final = re.compile(
    rf"{COMPILED}-[^-]+-cp(\d+)-cp\d+-(manylinux|macosx)\w*?_(x86_64|aarch64|arm64)(?:\..*)?\.whl"
)
WHEN: Final = (1980, 1, 1, 0, 0, 0)
"""The time of every file, so that the same sources give the same bundle."""
Files = Iterator[tuple[str, bytes]]


def build(out: Path, wheels: Sequence[Path] = ()) -> None:
    """Write the bundle."""
    runtimes = dict(
        [(_own_runtime(), list(_installed())), *((_runtime(wheel), list(_unpacked(wheel))) for wheel in wheels)]
    )
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as bundle:
        for name, data in _files(runtimes):
            bundle.writestr(zipfile.ZipInfo(name, WHEN), data, zipfile.ZIP_DEFLATED)


def _files(runtimes: dict[str, list[tuple[str, bytes]]]) -> Files:
    yield "manifest.json", _manifest(runtimes)
    yield "LICENSE", (ROOT / "LICENSE").read_bytes()
    yield "server/main.py", (ROOT / "mcpb" / "server" / "main.py").read_bytes()
    for path in _modules():
        yield f"server/lib/{path.relative_to(SOURCE).as_posix()}", path.read_bytes()
    for runtime, files in runtimes.items():
        for name, data in files:
            yield f"server/lib/{runtime}/{name}", data


def _manifest(runtimes: dict[str, list[tuple[str, bytes]]]) -> bytes:
    manifest = json.loads((ROOT / "mcpb" / "manifest.json").read_text(encoding="utf-8"))
    manifest["compatibility"]["platforms"] = sorted({runtime.split("-")[2] for runtime in runtimes})
    return json.dumps(manifest, indent=2, ensure_ascii=False).encode() + b"\n"


def _modules() -> list[Path]:
    """The modules that the server and its tools import, and the data of the workspace."""
    environ = {**os.environ, "PYTHONPATH": str(SOURCE)}
    found = subprocess.run([sys.executable, "-c", MODULES], env=environ, capture_output=True, text=True, check=False)
    if found.returncode:
        raise SystemExit(found.stderr)
    data = [path for path in (SOURCE / "cohabit" / "workspace").rglob("*") if path.suffix in (".json", ".md")]
    return sorted({*map(Path, found.stdout.splitlines()), *data})


# -- the compiled library -------------------------------------------------------------------------
def _own_runtime() -> str:
    return f"{sys.implementation.cache_tag}-{sys.platform}-{platform.machine()}"


def _installed() -> Files:
    for file in importlib.metadata.files(COMPILED) or ():
        if _is_needed(file.as_posix()):
            yield file.as_posix(), file.read_binary()


def _runtime(wheel: Path) -> str:
    found = WHEEL.fullmatch(wheel.name)
    if found is None:
        raise SystemExit(f"{wheel.name} is not a wheel of {COMPILED} for Linux (manylinux) or macOS")
    return f"cpython-{found[1]}-{'linux' if found[2] == 'manylinux' else 'darwin'}-{found[3]}"


def _unpacked(wheel: Path) -> Files:
    with zipfile.ZipFile(wheel) as archive:
        for name in archive.namelist():
            if _is_needed(name):
                yield name, archive.read(name)


def _is_needed(name: str) -> bool:
    """Whether a file of the library is code or its licence."""
    return name.endswith((".py", ".so")) or "LICENSE" in name


if __name__ == "__main__":
    if len(sys.argv) < 2:
        raise SystemExit(__doc__)
    build(Path(sys.argv[1]), [Path(name) for name in sys.argv[2:]])
