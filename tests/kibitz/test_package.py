"""The JavaScript module as others get it: from a house, by a script tag, from npm, and with types."""

import json
import re
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import expect
from tests.faces.page import Running, Visit, token
from tests.faces.serving import served

from cohabit.faces.app import MODULE, global_script

from .claims import CLAIMS
from .test_claims import IDS, RUNNER

SURFACE = ["RoomController", "connect", "cooldown", "createAgent", "createAgentFromBridge"]


async def test_the_house_serves_the_module_and_the_classic_script() -> None:
    async with served() as there, there.http() as http:
        module = await http.get("/kibitz.js")
        assert module.text == MODULE.read_text(encoding="utf-8")
        assert module.headers["content-type"].startswith("text/javascript")
        script = await http.get("/kibitz.global.js")
        assert script.text == global_script(module.text)
        assert script.headers["content-type"].startswith("text/javascript")


def test_the_classic_script_defines_all_that_the_module_exports_and_nothing_else() -> None:
    module = MODULE.read_text(encoding="utf-8")
    script = global_script(module)
    assert not re.search(r"^\s*(import|export)\b", script, re.MULTILINE)
    exported = re.search(r"globalThis.Kibitz = Object.freeze\(\{ (.*) \}\)", script)
    assert exported is not None
    assert set(SURFACE) <= set(exported[1].split(", "))
    assert module.count("\nexport ") == len(exported[1].split(", "))


@pytest.mark.node
def test_npm_packs_a_package_that_node_can_import(tmp_path: Path, need: Callable[[str], Path]) -> None:
    node, npm = need("node22"), shutil.which("npm")
    assert npm is not None
    source = tmp_path / "source"
    shutil.copytree(MODULE.parent, source)
    quiet = ["--offline", "--no-audit", "--no-fund", "--loglevel=error"]
    packed = subprocess.run([npm, "pack", "--json", *quiet], cwd=source, capture_output=True, text=True, check=True)
    report = json.loads(packed.stdout)
    made = report[0] if isinstance(report, list) else next(iter(report.values()))
    assert {file["path"] for file in made["files"]} == {"README.md", "kibitz.d.ts", "kibitz.js", "package.json"}
    user = tmp_path / "user"
    user.mkdir()
    (user / "package.json").write_text('{"type": "module"}')
    subprocess.run([npm, "install", *quiet, str(source / made["filename"])], cwd=user, check=True, capture_output=True)
    (user / "main.js").write_text(
        'import * as Kibitz from "cohabit-kibitz"; console.log(JSON.stringify(Object.keys(Kibitz)));'
    )
    done = subprocess.run([node, "main.js"], cwd=user, capture_output=True, text=True, check=True)
    assert set(SURFACE) <= set(json.loads(done.stdout))


@pytest.mark.node
def test_the_types_are_those_of_the_module(tmp_path: Path, need: Callable[[str], Path]) -> None:
    """To make them again: the same command, with ``--outDir`` the folder of the module."""
    strict = ["--allowJs", "--checkJs", "--strict", "--target", "es2022", "--module", "esnext",
              "--moduleResolution", "bundler", "--lib", "es2022,dom"]  # fmt: skip
    command = [need("typescript"), *strict, "--declaration", "--emitDeclarationOnly", "--outDir", tmp_path, MODULE]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout
    assert (tmp_path / "kibitz.d.ts").read_text() == MODULE.with_name("kibitz.d.ts").read_text()


@pytest.mark.node
def test_our_controller_has_the_type_that_an_agent_needs(tmp_path: Path, need: Callable[[str], Path]) -> None:
    use = tmp_path / "use.mts"
    folder = MODULE.parent.as_posix()
    lines = [
        f'import {{ connect, createAgent, type Controller }} from "{folder}/kibitz.js";',
        'const controller: Controller = await connect("https://example.org", "token", "room", { media: true });',
        "const words: string[] = [];",
        "createAgent(controller, { readOnly: true }).onChat((message) => words.push(message.text));",
    ]
    use.write_text("\n".join(lines))
    strict = ["--noEmit", "--strict", "--target", "es2022", "--module", "esnext", "--moduleResolution", "bundler"]
    done = subprocess.run([need("typescript"), *strict, use], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout
    use.write_text(lines[0] + "\nconst wrong: Controller = { broadcast() {} };")
    done = subprocess.run([need("typescript"), *strict, use], capture_output=True, text=True, check=False)
    assert "onMessage" in done.stdout


@pytest.mark.browser
def test_in_a_browser_the_global_keeps_every_claim(house: Running, visit: Visit) -> None:
    page = visit(f"http://127.0.0.1:{house.port}/")
    page.add_script_tag(url="/kibitz.global.js")
    runner = RUNNER.read_text().partition("if (globalThis.process")[0].replace("export ", "")
    logs = page.evaluate(
        f"async (claims) => {{ {runner}; return Promise.all(claims.map((c) => run(Kibitz, c))); }}", CLAIMS
    )
    assert dict(zip(IDS, logs, strict=True)) == {claim["claim"]: claim["log"] for claim in CLAIMS}


@pytest.mark.browser
def test_in_a_browser_an_agent_joins_a_room_and_talks(house: Running, visit: Visit) -> None:
    page = visit(f"http://127.0.0.1:{house.port}/")
    page.evaluate(
        """async ([token]) => {
          const { connect, createAgent } = await import("/kibitz.js");
          const agent = createAgent(await connect(location.origin, token, "table"), { backend: "tiny" });
          globalThis.heard = new Promise((resolve) => agent.onChat(resolve));
          globalThis.agent = agent;
        }""",
        [token("ann")],
    )
    house.call("hal", "say", text="good evening")
    assert page.evaluate("heard") == {"from": "hal", "name": "hal", "text": "good evening"}
    page.evaluate("agent.say('hello')")
    messages: Any = house.call("hal", "recv_messages", wait_ms=20_000)
    assert messages.items[0]["content"] == "hello"
    expect(page.locator("body")).to_be_visible()
