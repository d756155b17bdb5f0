"""The documentation says what the code does."""

import re
from pathlib import Path

import generated
import msgspec
import pytest
import reference

from cohabit.agents.llm.options import MindOptions
from cohabit.errors import every_error
from cohabit.faces.cli.verbs import GROUPS
from cohabit.house.commands import every_command
from cohabit.house.settings import settings_table
from cohabit.registry import BACKENDS
from cohabit.scenario import AgentSpec, Scenario, presets
from cohabit.workspace.tools import tools

ROOT = Path(__file__).parent.parent
DOCS = ROOT / "docs"


def page(name: str) -> str:
    return (DOCS / name).read_text()


def test_the_reference_pages_are_what_the_code_says() -> None:
    assert generated.stale(reference.PAGES) == [], "run python tools/reference.py"


@pytest.mark.parametrize("name", sorted({command.name for _, command in every_command()}))
def test_every_command_is_documented(name: str) -> None:
    assert f"### `{name}`" in page("commands.md")


@pytest.mark.parametrize("code", sorted(cls.code for cls in every_error()))
def test_every_error_code_is_documented(code: str) -> None:
    assert f"| `{code}` |" in page("errors.md")


@pytest.mark.parametrize("name", [name for name, _, _ in settings_table()])
def test_every_setting_is_documented(name: str) -> None:
    assert f"| `{name}` |" in page("settings.md")


@pytest.mark.parametrize("key", [*Scenario.__struct_fields__, *AgentSpec.__struct_fields__])
def test_every_key_of_a_scenario_is_documented(key: str) -> None:
    assert f"`{key}`" in page("rooms.md")


@pytest.mark.parametrize("name", sorted(presets()))
def test_every_scenario_that_ships_is_documented(name: str) -> None:
    assert f"`{name}`" in page("rooms.md")


def test_the_table_of_the_command_line_has_every_verb_in_its_group() -> None:
    cells = " | ".join(" · ".join(f"[{verb.name}](#{verb.name})" for verb in verbs) for verbs in GROUPS.values())
    titles = " | ".join(title.lower() for title in GROUPS)
    assert f"| {titles} |\n{'|---' * len(GROUPS)}|\n| {cells} |" in page("cli.md")


def anchors(path: Path) -> set[str]:
    """The anchors of a page's headings, as the site makes them."""
    found: set[str] = set()
    text = re.sub(r"^( *)```.*?^\1```", "", path.read_text(), flags=re.DOTALL | re.MULTILINE)
    for heading in re.findall(r"^#+ (.+)$", text, re.MULTILINE):
        words = re.sub(r"[^\w\s-]", "", re.sub(r"\[([^]]*)\]\([^)]*\)", r"\1", heading)).strip().lower()
        slug = re.sub(r"[-\s]+", "-", words)
        found.add(slug if slug not in found else f"{slug}_1")
    return found


def test_every_link_between_pages_leads_somewhere() -> None:
    for path in [*DOCS.glob("*.md"), ROOT / "README.md", ROOT / "CONTRIBUTING.md"]:
        links = re.findall(r"\]\(([^)#:]*)(?:#([^)]*))?\)", path.read_text())
        assert links or path.parent == DOCS, f"{path.name} links to nothing"
        for target, anchor in links:
            linked = path.parent / target if target else path
            assert linked.exists(), f"{path.name} links to {target}"
            if anchor and linked.suffix == ".md":
                assert anchor in anchors(linked), f"{path.name} links to {target}#{anchor}"


@pytest.mark.parametrize("name", tools())
def test_every_tool_of_the_workspace_is_documented(name: str) -> None:
    assert f"### `{name}`" in page("workspace-tools.md")


def test_every_variable_that_the_workspace_reads_is_documented() -> None:
    sources = [path.read_text() for path in (ROOT / "src/cohabit/workspace").rglob("*.py")]
    names = set(re.findall(r"\bCOHABIT_[A-Z_]*[A-Z]\b", "\n".join(sources)))
    assert len(names) >= 6
    assert [name for name in sorted(names) if f"`{name}`" not in page("workspace.md")] == []


def test_every_option_of_a_model_is_documented_with_its_default() -> None:
    text = page("models.md")
    rows = [[cell.strip() for cell in line.split("|")[1:3]] for line in text.splitlines() if line.startswith("| `")]
    for field in msgspec.structs.fields(MindOptions):
        (default,) = [default for names, default in rows if f"`{field.name}`" in names.split(", ")]
        assert default == ("the service's own" if field.default is None else str(field.default).lower())
    for backend in BACKENDS:
        assert f"`{backend}" in text
