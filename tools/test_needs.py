"""Programs that the tests need besides Python: find them, install them if possible, and report missing ones.

    python tools/test_needs.py            install what is missing (`make test` does this first)
    python tools/test_needs.py --check    only report what is missing
    python tools/test_needs.py node22     only these

Tests ask for a need by name through the fixture `need`, and get the path of the program. A new need is
one entry in `NEEDS`.

Variables override this: COHABIT_TEST_CHROMIUM=/path/to/it uses that program, COHABIT_TEST_CHROMIUM=no skips
it. COHABIT_TEST_INSTALL=no installs nothing.
"""

from __future__ import annotations

import argparse
import functools
import json
import os
import platform
import shutil
import subprocess
import sys
import threading
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

ROOT = Path(__file__).resolve().parent.parent
TOOLS = ROOT / ".tools"
HEADLESS = "chromium-headless-shell"
NODE = 22
TYPESCRIPT = "7.0.2"
CONFORMANCE = "@modelcontextprotocol/conformance"
MCP_APPS = "@modelcontextprotocol/ext-apps"
NO = ("0", "no", "off", "false")
INSTALLED = "installed.txt"
"""A copy of the file that pins what was installed into an environment."""
APT_LOCK = threading.Lock()
"""Held while apt runs: a second one at the same time fails."""


class InstallFailed(Exception):
    """An installation failed. The message has the reason."""


@dataclass(frozen=True, kw_only=True)
class Need:
    """A program that some tests need: how to find it, how to install it, and what it is for."""

    what: str
    for_what: str
    find: Callable[[], Path | None]
    install: Callable[[], None]
    installer: Literal["apt", "npm", "pip"]
    """The program that installs it. Different installers run at the same time."""
    hint: str
    in_every_run: bool = True
    """Whether `make test` needs it."""


# Finding


def on_path(*names: str) -> Callable[[], Path | None]:
    """A finder: the first of these programs that is on the path."""

    def find() -> Path | None:
        return next((Path(found) for name in names if (found := shutil.which(name))), None)

    return find


def find_chromium() -> Path | None:
    """The system's Chromium or Chrome, else one of Playwright. The one without windows takes less time."""
    system = on_path(HEADLESS, "chromium", "chromium-browser", "google-chrome", "google-chrome-stable")()
    if system:
        return system
    caches = (Path.home() / ".cache/ms-playwright", Path.home() / "Library/Caches/ms-playwright")
    shapes = ("chromium-*/chrome-linux*/chrome", "chromium-*/chrome-mac*/*.app/Contents/MacOS/*")
    downloaded = [path for cache in caches for shape in shapes for path in cache.glob(shape)]
    return max(downloaded, default=None)


def find_nginx() -> Path | None:
    """nginx, which Debian installs where only root has it on the path."""
    return on_path("nginx")() or next((path for path in [Path("/usr/sbin/nginx")] if path.exists()), None)


def find_postgres() -> Path | None:
    """``initdb`` of the newest PostgreSQL. Debian has it in a folder of its own for each version."""
    found = sorted(Path("/usr/lib/postgresql").glob("*/bin/initdb"), key=lambda path: int(path.parts[-3]))
    return found[-1] if found else on_path("initdb")()


def find_node() -> Path | None:
    """Our own copy of Node, else the system's if it is new enough."""
    ours = TOOLS / "node/node_modules" / node_package() / "bin/node"
    if ours.exists():
        return ours
    system = on_path("node", "nodejs")()
    return system if system and node_major(system) >= NODE else None


def node_major(node: Path) -> int:
    """The major version this Node says it is, 0 if it says nothing."""
    said = subprocess.run([node, "--version"], capture_output=True, text=True, check=False).stdout
    major = said.strip().removeprefix("v").split(".")[0]
    return int(major) if major.isdigit() else 0


def find_pinned(project: str, package: str, file: str) -> Callable[[], Path | None]:
    """A finder: a file of an npm package under `.tools/`, in the version that the project pins."""

    def find() -> Path | None:
        installed = tools_of(project) / "node_modules" / package
        try:
            version = json.loads((installed / "package.json").read_text())["version"]
        except FileNotFoundError:
            return None
        return installed / file if version == pinned_version(project, package) else None

    return find


def tools_of(project: str) -> Path:
    """The folder in which the packages of this project's `package.json` are installed."""
    return TOOLS / Path(project).name


def pinned_version(project: str, package: str) -> str:
    """The version of a package that the project's `package.json` pins."""
    pins = json.loads((ROOT / project / "package.json").read_text())["dependencies"]
    return str(pins[package])


def conformance_version() -> str:
    """The pinned version of the MCP conformance suite."""
    return pinned_version("tools/conformance", CONFORMANCE)


def find_mcp_apps() -> Path | None:
    """The folder `node_modules` with the MCP Apps host, in the versions that `tools/mcp_apps/package.json` pins."""
    found = find_pinned("tools/mcp_apps", MCP_APPS, "package.json")()
    return tools_of("tools/mcp_apps") / "node_modules" if found else None


def find_typescript() -> Path | None:
    """The pinned compiler under `.tools/`: others may write types in another form."""
    found = TOOLS / "typescript/node_modules/typescript/package.json"
    pinned = found.exists() and json.loads(found.read_text())["version"] == TYPESCRIPT
    return TOOLS / "typescript/node_modules/.bin/tsc" if pinned else None


def find_libraries(name: str) -> Callable[[], Path | None]:
    """A finder: the Python of an environment with the libraries that `tools/integrations/NAME.txt` pins."""

    def find() -> Path | None:
        installed = TOOLS / name / INSTALLED
        is_current = installed.exists() and installed.read_text() == pinned_libraries(name).read_text()
        return TOOLS / name / "bin/python" if is_current else None

    return find


def pinned_libraries(name: str) -> Path:
    """The file that pins the libraries of an integration."""
    return ROOT / f"tools/integrations/{name}.txt"


def worldbox_client(version: str) -> Path:
    """Where this version of the program `worldbox-mcp` is, or would be."""
    return TOOLS / f"worldbox-{version}/bin/worldbox-mcp"


def find_worldbox(version: str) -> Callable[[], Path | None]:
    """A finder: this version of the program `worldbox-mcp`."""

    def find() -> Path | None:
        client = worldbox_client(version)
        return client if client.exists() else None

    return find


# Installing


def apt(*packages: str) -> Callable[[], None]:
    """An installer for these packages, as root on Debian or Ubuntu."""

    def install() -> None:
        if not (shutil.which("apt-get") and os.geteuid() == 0):
            raise InstallFailed("not root on Debian or Ubuntu")
        with APT_LOCK:
            apt_update()
            call(
                ["apt-get", "install", "-y", "-q", "--no-install-recommends", *packages],
                environment={"DEBIAN_FRONTEND": "noninteractive"},
            )

    return install


@functools.cache
def apt_update() -> None:
    """Fetch the package lists, once."""
    call(["apt-get", "update", "-q"])


def install_chromium() -> None:
    """Chromium without windows; not every release of Debian and Ubuntu has it."""
    try:
        apt(HEADLESS)()
    except InstallFailed:
        apt("chromium")()


def install_node() -> None:
    """Node as an npm package under `.tools/`: needs no root and does not change the system's Node."""
    # Not the package `node`: it needs an install script, and those may be disabled.
    npm_install(TOOLS / "node", f"{node_package()}@{NODE}")


def node_package() -> str:
    """The name of the npm package that holds Node for this machine."""
    cpu = {"x86_64": "x64", "amd64": "x64", "aarch64": "arm64"}.get(platform.machine(), platform.machine())
    prefix = "node-bin" if (sys.platform, cpu) == ("darwin", "arm64") else "node"
    return f"{prefix}-{sys.platform}-{cpu}"


def install_pinned(project: str) -> Callable[[], None]:
    """An installer under `.tools/` for the packages that the project pins."""

    def install() -> None:
        folder = tools_of(project)
        folder.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / project / "package.json", folder)
        npm_install(folder)

    return install


def install_typescript() -> None:
    """TypeScript under `.tools/`."""
    npm_install(TOOLS / "typescript", f"typescript@{TYPESCRIPT}")


def npm_install(folder: Path, *packages: str) -> None:
    """`npm install` in a folder, without install scripts and without a lock file."""
    npm = shutil.which("npm")
    if npm is None:
        apt("nodejs", "npm")()
        npm = shutil.which("npm")
    if npm is None:
        raise InstallFailed("npm is missing")
    folder.mkdir(parents=True, exist_ok=True)
    quiet = ["--ignore-scripts", "--no-package-lock", "--no-audit", "--no-fund", "--loglevel=error"]
    node = find_node()
    path = f"{node.parent}{os.pathsep}{os.environ['PATH']}" if node else os.environ["PATH"]
    call(
        [npm, "install", "--prefix", str(folder), *quiet, *packages],
        environment={"PATH": path},
        within=folder,
    )


def install_worldbox(version: str) -> Callable[[], None]:
    """An installer for this version in its own environment, because each version needs another MCP SDK."""

    def install() -> None:
        pip_install(TOOLS / f"worldbox-{version}", "-r", str(ROOT / f"tools/worldbox/{version}.txt"))

    return install


def install_libraries(name: str) -> Callable[[], None]:
    """An installer for the libraries of an integration, which need other versions than Cohabit does. Without what
    they need for other purposes, such as a web interface: that is most of the time."""

    def install() -> None:
        pip_install(TOOLS / name, "--no-deps", "-r", str(pinned_libraries(name)))
        shutil.copy(pinned_libraries(name), TOOLS / name / INSTALLED)

    return install


def pip_install(environment: Path, *what: str) -> None:
    """`pip install` into an environment of its own."""
    call([sys.executable, "-m", "venv", "--clear", "--without-pip", str(environment)])
    pip = [sys.executable, "-m", "pip", "--python", str(environment / "bin/python"), "--disable-pip-version-check"]
    call([*pip, "-qq", "install", "--no-compile", *what])


def call(command: Sequence[str], environment: Mapping[str, str] | None = None, within: Path = ROOT) -> None:
    """Run a command silently. If it fails, its last line is the reason."""
    done = subprocess.run(
        command,
        cwd=within,
        env={**os.environ, **(environment or {})},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
    )
    if done.returncode != 0:
        lines = [line for line in done.stdout.splitlines() if line.strip()]
        raise InstallFailed(f"{Path(command[0]).name}: {lines[-1] if lines else f'exit {done.returncode}'}")


# The list


NEEDS: Mapping[str, Need] = {
    "node22": Need(
        what="Node 22",
        for_what="the MCP conformance tests, the check of invites with WebCrypto and `python -m bench rooms`",
        find=find_node,
        install=install_node,
        installer="npm",
        hint="install Node 22 or newer, or npm",
    ),
    "chromium": Need(
        what="Chromium",
        for_what="the tests of the web page",
        find=find_chromium,
        install=install_chromium,
        installer="apt",
        hint="install chromium, or run: .venv/bin/playwright install chromium",
    ),
    "conformance": Need(
        what="the MCP conformance suite",
        for_what="the MCP conformance tests",
        find=find_pinned("tools/conformance", CONFORMANCE, "dist/index.js"),
        install=install_pinned("tools/conformance"),
        installer="npm",
        hint="needs npm and the network once",
    ),
    "mcp_apps": Need(
        what="the MCP Apps host of npm",
        for_what="the tests of front ends in an independent host",
        find=find_mcp_apps,
        install=install_pinned("tools/mcp_apps"),
        installer="npm",
        hint="needs npm and the network once",
    ),
    "axe": Need(
        what="axe",
        for_what="the tests of accessibility",
        find=find_pinned("tools/axe", "axe-core", "axe.min.js"),
        install=install_pinned("tools/axe"),
        installer="npm",
        hint="needs npm and the network once",
    ),
    "typescript": Need(
        what="TypeScript",
        for_what="the test of the types of the JavaScript module",
        find=find_typescript,
        install=install_typescript,
        installer="npm",
        hint="needs npm and the network once",
    ),
    "colyseus": Need(
        what="Colyseus 0.18",
        for_what="`python -m bench rooms`",
        find=find_pinned("bench/colyseus", "@colyseus/core", "package.json"),
        install=install_pinned("bench/colyseus"),
        installer="npm",
        hint="needs npm and the network once",
        in_every_run=False,
    ),
    "worldbox_06": Need(
        what="the client worldbox-mcp 0.6.0",
        for_what="the tests with the newest client of the WorldBox bridge",
        find=find_worldbox("0.6.0"),
        install=install_worldbox("0.6.0"),
        installer="pip",
        hint="needs pip and the network once",
    ),
    "worldbox_03": Need(
        what="the client worldbox-mcp 0.3.3",
        for_what="the tests with the first multi-agent client of the WorldBox bridge",
        find=find_worldbox("0.3.3"),
        install=install_worldbox("0.3.3"),
        installer="pip",
        hint="needs pip and the network once",
    ),
    "openenv": Need(
        what="OpenEnv",
        for_what="the test of rooms as OpenEnv environments",
        find=find_libraries("openenv"),
        install=install_libraries("openenv"),
        installer="pip",
        hint="needs pip and the network once",
        in_every_run=False,
    ),
    "inspect": Need(
        what="Inspect",
        for_what="the test of games as Inspect tasks",
        find=find_libraries("inspect"),
        install=install_libraries("inspect"),
        installer="pip",
        hint="needs pip and the network once",
        in_every_run=False,
    ),
    "nginx": Need(
        what="nginx",
        for_what="the tests of the house behind a reverse proxy",
        find=find_nginx,
        install=apt("nginx"),
        installer="apt",
        hint="install nginx",
    ),
    "postgres": Need(
        what="PostgreSQL",
        for_what="the tests of the store on PostgreSQL",
        find=find_postgres,
        install=apt("postgresql"),
        installer="apt",
        hint="install postgresql",
    ),
    "cc": Need(
        what="a C compiler",
        for_what="the tests that preload a C shim",
        find=on_path("gcc", "cc", "clang"),
        install=apt("gcc", "libc6-dev"),
        installer="apt",
        hint="install gcc and the C library's headers",
    ),
}


def locate(name: str) -> Path | None:
    """The path of a need, or None. The environment has precedence."""
    said = os.environ.get(f"COHABIT_TEST_{name.upper()}", "")
    if said.lower() in NO:
        return None
    return Path(said) if said else NEEDS[name].find()


def reason(name: str) -> str:
    """The message: what is missing, which tests cannot run, what to do."""
    need = NEEDS[name]
    return f"{need.what} is missing: {need.for_what} cannot run ({need.hint})"


def provide(name: str, *, install: bool) -> bool:
    """Make sure a need is met, or print that it is not."""
    if locate(name):
        return True
    said_no = f"COHABIT_TEST_{name.upper()}" in os.environ
    why = ""
    if install and not said_no:
        print(f"installing {NEEDS[name].what} ...", flush=True)
        try:
            NEEDS[name].install()
        except InstallFailed as failure:
            why = f" [{failure}]"
        if locate(name):
            return True
    print(f"!!! {reason(name)}{why}", flush=True)
    return False


def provide_all(names: Iterable[str], *, install: bool) -> None:
    """Make sure that these needs are met, with different installers at the same time."""

    def by(installer: str) -> None:
        for name in names:
            if NEEDS[name].installer == installer:
                provide(name, install=install)

    with ThreadPoolExecutor() as pool:
        list(pool.map(by, dict.fromkeys(need.installer for need in NEEDS.values())))


def main() -> None:
    """Provide the needs of `make test`, or the named ones. Missing ones fail later, in the tests."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", choices=[*NEEDS, []], metavar="NAME", help=", ".join(NEEDS))
    parser.add_argument("--check", action="store_true", help="install nothing")
    options = parser.parse_args()
    install = not options.check and os.environ.get("COHABIT_TEST_INSTALL", "").lower() not in NO
    provide_all(options.names or [name for name, need in NEEDS.items() if need.in_every_run], install=install)


if __name__ == "__main__":
    main()
