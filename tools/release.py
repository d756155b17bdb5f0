"""Build what is published, into dist/, and check it.

python tools/release.py          build everything, then install and use each of it in a clean place
python tools/release.py --build  only build

    cohabit-VERSION-py3-none-any.whl    the Python package
    cohabit-VERSION.tar.gz              its sources
    cohabit-kibitz-VERSION.tgz          the npm package of agents in rooms
    cohabit-workspace-VERSION.mcpb      the workspace server for desktop clients
    cohabit-plugin-VERSION.zip          the plugin with its skill, for clients with plugins
    cohabit-VERSION.cdx.json            what the wheel needs, with versions and licenses (CycloneDX)
    Containerfile, server.json          for images, and for the MCP registry
    NOTES.md                            this version in the changelog
    SHA256SUMS                          of all of it
"""

import argparse
import hashlib
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import venv
from collections.abc import Iterable
from pathlib import Path
from typing import Final

import bundle
from cohabit import __version__

ROOT: Final = Path(__file__).parent.parent
DIST: Final = ROOT / "dist"
KIBITZ: Final = ROOT / "src/cohabit/faces/web/kibitz"
CONSTRAINTS: Final = ROOT / "constraints.txt"
WHEEL: Final = f"cohabit-{__version__}-py3-none-any.whl"
SOURCES: Final = f"cohabit-{__version__}.tar.gz"
NPM: Final = f"cohabit-kibitz-{__version__}.tgz"
BUNDLE: Final = f"cohabit-workspace-{__version__}.mcpb"
PLUGIN: Final = f"cohabit-plugin-{__version__}.zip"
BILL: Final = f"cohabit-{__version__}.cdx.json"
SUMS: Final = "SHA256SUMS"
PLUGIN_FILES: Final = (".claude-plugin", "skills", "src", "pyproject.toml", "README.md", "LICENSE")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", action="store_true", help="do not install and use what was built")
    args = parser.parse_args()
    shutil.rmtree(DIST, ignore_errors=True)
    DIST.mkdir()
    steps = [build_python, build_npm, build_bundle, build_plugin, copy_files, write_notes]
    for step in [*steps, *([] if args.build else [check_wheel, check_sources, check_npm, check_bundle, check_plugin])]:
        print(step.__doc__, flush=True)
        step()
    write_sums()
    for path in sorted(DIST.iterdir()):
        print(f"  {path.stat().st_size:>9,}  {path.name}")
    return 0


def run(*words: str | Path, folder: Path = ROOT, env: dict[str, str] | None = None) -> str:
    """Run a program and return what it prints. What it says is shown if it fails."""
    given = {**os.environ, **(env or {})}
    done = subprocess.run([*map(str, words)], cwd=folder, env=given, capture_output=True, text=True, check=False)
    if done.returncode:
        sys.exit(f"{' '.join(map(str, words))}\n{done.stdout[-2000:]}{done.stderr[-4000:]}")
    return done.stdout


# -- build ----------------------------------------------------------------------------------------
def build_python() -> None:
    """wheel and sources"""
    run(sys.executable, "-m", "build", "--outdir", DIST, ROOT)


def build_npm() -> None:
    """npm package"""
    run("npm", "pack", "--silent", "--pack-destination", DIST, folder=KIBITZ)


def build_bundle() -> None:
    """MCP bundle"""
    bundle.build(DIST / BUNDLE)


def build_plugin() -> None:
    """plugin"""
    run("git", "archive", "--format=zip", f"--output={DIST / PLUGIN}", "HEAD", *PLUGIN_FILES)


def copy_files() -> None:
    """container file and registry entry"""
    shutil.copy(ROOT / "deploy/Containerfile", DIST)
    shutil.copy(ROOT / "server.json", DIST)


def write_notes() -> None:
    """release notes"""
    (DIST / "NOTES.md").write_text(notes((ROOT / "CHANGELOG.md").read_text(), __version__))


def notes(changelog: str, version: str) -> str:
    """The part of the changelog about a version; what is not released yet, if it has none."""
    parts: dict[str, str] = dict(
        re.findall(r"^## \[([^\]]+)\][^\n]*\n(.*?)(?=^## \[|\Z)", changelog, re.DOTALL | re.MULTILINE)
    )
    return f"# Cohabit {version}\n\n{parts.get(version, parts.get('Unreleased', '')).strip()}\n"


def write_sums() -> None:
    """The sums, as `sha256sum --check` reads them."""
    files = sorted(path for path in DIST.iterdir() if path.name != SUMS)
    lines = [f"{hashlib.sha256(path.read_bytes()).hexdigest()}  {path.name}" for path in files]
    (DIST / SUMS).write_text("\n".join(lines) + "\n")


# -- check ----------------------------------------------------------------------------------------
def clean_environment(folder: Path, *packages: str | Path) -> Path:
    """A new virtual environment with these packages. Returns its folder of programs."""
    venv.create(folder, with_pip=True)
    programs = folder / "bin"
    pip = (programs / "python", "-m", "pip", "--disable-pip-version-check", "--quiet", "install")
    run(*pip, "--constraint", CONSTRAINTS, *packages, folder=folder)
    return programs


def check_wheel() -> None:
    """install the wheel, play a game with it, and list what it needs"""
    with tempfile.TemporaryDirectory() as folder:
        programs = clean_environment(Path(folder) / "env", DIST / WHEEL)
        use(programs, Path(folder))
        bill = run(sys.executable, "-m", "cyclonedx_py", "environment", "--of", "JSON", programs / "python")
        found = json.loads(bill)
        for component in found.get("components", ()):
            component.pop("externalReferences", None)  # the wheel of Cohabit was installed from a local file
        (DIST / BILL).write_text(json.dumps(found, indent=1, sort_keys=True) + "\n")


def check_sources() -> None:
    """install the sources, and play a game"""
    with tempfile.TemporaryDirectory() as folder:
        use(clean_environment(Path(folder) / "env", DIST / SOURCES), Path(folder))


def use(programs: Path, folder: Path) -> None:
    """Do what a new user does, outside of this repository."""
    assert __version__ in run(programs / "cohabit", "--version", folder=folder)
    said = run(programs / "cohabit", "match", "nim", "random", "random", "--games", "2", folder=folder)
    assert "random" in said, said
    run(programs / "cohabit", "doctor", "--data", folder / "house", "--port", "0", folder=folder)


def check_npm() -> None:
    """install the npm package, and import it"""
    with tempfile.TemporaryDirectory() as folder:
        run("npm", "install", "--silent", "--prefix", folder, DIST / NPM)
        script = "import('cohabit-kibitz').then((module) => console.log(Object.keys(module).length))"
        assert int(run("node", "-e", script, folder=Path(folder))) > 0


def check_bundle() -> None:
    """start the server in the bundle"""
    with tempfile.TemporaryDirectory() as folder:
        shutil.unpack_archive(DIST / BUNDLE, folder, "zip")
        assert_serves_tools([sys.executable, "-I", str(Path(folder) / "server/main.py")], Path(folder))


def check_plugin() -> None:
    """install the program of the plugin, and start it"""
    with tempfile.TemporaryDirectory() as folder:
        unpacked = Path(folder) / "plugin"
        shutil.unpack_archive(DIST / PLUGIN, unpacked, "zip")
        programs = clean_environment(Path(folder) / "env", unpacked)
        assert_serves_tools([str(programs / "cohabit-workspace")], Path(folder))


def assert_serves_tools(command: Iterable[str], folder: Path) -> None:
    """Ask an MCP server on stdin for its tools."""
    hello = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "release", "version": "1"}}
    messages = [
        {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": hello},
        {"jsonrpc": "2.0", "method": "notifications/initialized"},
        {"jsonrpc": "2.0", "id": 2, "method": "tools/list", "params": {}},
    ]
    asked = "".join(json.dumps(message) + "\n" for message in messages)
    done = subprocess.run([*command], input=asked, cwd=folder, capture_output=True, text=True, timeout=60, check=False)
    replies = [json.loads(line) for line in done.stdout.splitlines() if line.startswith("{")]
    tools = [reply["result"]["tools"] for reply in replies if reply.get("id") == 2]
    assert any(tools), done.stdout + done.stderr


if __name__ == "__main__":
    sys.exit(main())
