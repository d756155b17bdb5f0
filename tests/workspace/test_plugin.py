"""The skill, the plugin, the marketplace and the bundle are generated from the code."""

import json
import re
import tomllib
from pathlib import Path
from typing import Any

import generated
import msgspec
import plugin
import pytest

from cohabit import __version__
from cohabit.workspace.mcp.skill import NAME, skill
from cohabit.workspace.tools import tools

ROOT = Path(__file__).parent.parent.parent
NO_TOOLS = {
    "workspace", "todos", "since", "paths", "offset", "cursor", "conflict", "files", "message", "rejected", "reason",
    "renumbered", "truncated",
}  # fmt: skip
"""Words in code style in the skill that are not tools: arguments, fields of answers, and the server's name."""


def made(path: str) -> Any:
    return json.loads((ROOT / path).read_text())


def parts() -> tuple[dict[str, str], str]:
    _, front, body = skill().split("---\n", 2)
    return dict(line.split(": ", 1) for line in front.strip().splitlines()), body


def examples() -> list[dict[str, Any]]:
    return [json.loads(block) for block in re.findall(r"```json\n(.*?)```", skill(), re.DOTALL)]


def test_every_generated_file_is_up_to_date() -> None:
    assert generated.stale(plugin.FILES) == [], "run python tools/plugin.py"


def test_every_version_is_that_of_the_package() -> None:
    assert made(".claude-plugin/plugin.json")["version"] == __version__
    assert made(".claude-plugin/marketplace.json")["plugins"][0]["version"] == __version__
    assert made("mcpb/manifest.json")["version"] == __version__
    assert tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["version"] == __version__


def test_the_frontmatter_of_the_skill_is_what_clients_load_skills_by() -> None:
    front, body = parts()
    assert front["name"] == NAME == "a2a"
    assert 100 < len(front["description"]) <= 1024
    assert set(front) <= {"name", "description", "license", "compatibility", "metadata", "allowed-tools"}
    assert len(body.splitlines()) < 500
    assert len(skill()) / 4 < 2_500, "the skill is loaded whole: keep it short"


def test_every_tool_in_the_skill_exists() -> None:
    _, body = parts()
    prose = re.sub(r"```.*?```", "", body, flags=re.DOTALL)
    named = set(re.findall(r"`([a-z]+(?:_[a-z]+)*)`", prose))
    assert named - NO_TOOLS <= set(tools())


@pytest.mark.parametrize("name", [*tools()])
def test_every_tool_is_in_the_skill(name: str) -> None:
    _, body = parts()
    assert f"`{name}`" in body
    marked = re.search(rf"`{name}`(?:\s+it)?\s+\*\*\(full\)\*\*", body) is not None
    assert marked == (tools()[name].profile == "full"), "the mark says which profile has it"


@pytest.mark.parametrize("example", examples(), ids=lambda example: example["name"])
def test_every_example_of_the_skill_is_a_valid_call(example: dict[str, Any]) -> None:
    tool = tools()[example["name"]]
    assert set(example["arguments"]) <= set(tool.arguments)
    msgspec.convert(example["arguments"], tool.args)


def test_there_are_examples() -> None:
    assert {example["name"] for example in examples()} >= {
        "journal_append",
        "inbox_add",
        "inbox_close",
        "add",
        "commit",
    }


def test_the_plugin_starts_the_program_that_the_package_installs() -> None:
    scripts = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["scripts"]
    found = made(".claude-plugin/plugin.json")
    assert found["name"] == "cohabit"
    assert [*found["mcpServers"]] == ["workspace"]
    server = found["mcpServers"]["workspace"]
    assert [server["command"], *server["args"][:2]] == ["uvx", "--from", "${CLAUDE_PLUGIN_ROOT}"]
    assert server["args"][-1] in scripts
    assert scripts[server["args"][-1]] == "cohabit.workspace.__main__:main"


def test_the_marketplace_leads_to_the_plugin() -> None:
    found = made(".claude-plugin/marketplace.json")
    (entry,) = found["plugins"]
    assert found["owner"]["name"]
    assert entry["source"] == "./", "the program is installed from the plugin's own folder"
    manifest = ROOT / entry["source"] / ".claude-plugin" / "plugin.json"
    assert json.loads(manifest.read_text())["name"] == entry["name"]
    assert (ROOT / entry["source"] / "skills" / NAME / "SKILL.md").read_text() == skill()


def test_the_bundle_asks_for_the_identity_and_lists_the_tools() -> None:
    found = made("mcpb/manifest.json")
    assert found["manifest_version"] == "0.4"
    assert [tool["name"] for tool in found["tools"]] == [*tools()]
    assert [tool["name"] for tool in found["tools"] if not tool["description"].endswith(".")] == []  # whole sentences
    server = found["server"]
    assert (ROOT / "mcpb" / server["entry_point"]).is_file()
    assert server["mcp_config"]["env"] == {
        "COHABIT_AGENT_ID": "${user_config.agent_id}",
        "COHABIT_AGENT_NAME": "${user_config.agent_name}",
        "COHABIT_AGENT_EMAIL": "${user_config.agent_email}",
    }
    for option in found["user_config"].values():
        assert set(option) == {"type", "title", "description", "required"}


def test_the_settings_on_the_page_about_clients_start_the_program_that_the_package_installs() -> None:
    page = (ROOT / "docs" / "workspace-clients.md").read_text()
    scripts = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["scripts"]
    blocks = [json.loads(block) for block in re.findall(r"```json\n(.*?)```", page, re.DOTALL)]
    servers = [server for block in blocks for server in block["mcpServers"].values()]
    assert servers
    for server in servers:
        assert server["command"] in scripts
        assert server["args"] == ["--profile", "compat"]
