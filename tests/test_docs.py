"""The documentation says what the code does."""

import re
from pathlib import Path

import generated
import msgspec
import pytest
import reference
import tables
from public import MODULES

from cohabit.agents.llm.options import MindOptions
from cohabit.errors import every_error
from cohabit.house.commands import every_command
from cohabit.house.settings import settings_table
from cohabit.registry import BACKENDS
from cohabit.scenario import AgentSpec, Scenario, presets
from cohabit.workspace.tools import tools

ROOT = Path(__file__).parent.parent
DOCS = ROOT / "docs"
PAGES = sorted(DOCS.rglob("*.md"))
MADE_BY_PROGRAMS = {
    *(Path(name).name for name in reference.PAGES),
    "bench.md",
    "conformance.md",
    "kingdoms-powers.md",
    "kingdoms-soak.md",
    "statecraft-dilemma.md",
}
MAX_WORDS_OF_A_PAGE = 3500
MAX_WORDS = 75_000
"""Of all pages by hand together. Lower it when pages get shorter; never raise it."""


def page(name: str) -> str:
    return (DOCS / name).read_text()


def test_the_reference_pages_are_what_the_code_says() -> None:
    assert generated.stale(reference.PAGES) == [], "run python tools/reference.py"


def test_the_parts_of_pages_that_follow_from_the_code_are_what_it_says() -> None:
    assert generated.stale(tables.PAGES) == [], "run python tools/tables.py"


def test_a_part_of_a_page_without_its_marks_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(tables.BLOCKS, "index", {"verbs": tables.verbs})
    with pytest.raises(ValueError, match=r"index\.md has no part verbs"):
        tables.page("index")


def test_the_fields_of_a_struct_have_what_the_code_says_about_them() -> None:
    table = tables.fields(Scenario, "key")
    assert "| `agents` | required | The members |" in table
    assert "| `hide_brains` | `false` | Whether players see only that a `bot` plays a seat, and not which one." in table


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
    assert f"`{key}`" in page("scenarios.md")


@pytest.mark.parametrize("name", sorted(presets()))
def test_every_scenario_that_ships_is_documented(name: str) -> None:
    assert f"`{name}`" in page("scenarios.md")


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
    for path in [*PAGES, ROOT / "README.md", ROOT / "CONTRIBUTING.md"]:
        links = re.findall(r"\]\(([^)#:]*)(?:#([^)]*))?\)", path.read_text())
        assert links or DOCS in path.parents, f"{path.name} links to nothing"
        for target, anchor in links:
            linked = path.parent / target if target else path
            assert linked.exists(), f"{path.name} links to {target}"
            if anchor and linked.suffix == ".md" and linked.parent.name != "api":
                assert anchor in anchors(linked), f"{path.name} links to {target}#{anchor}"


def test_every_page_is_in_the_navigation_once() -> None:
    text = (ROOT / "mkdocs.yml").read_text()
    linked = re.findall(r"[\w/-]+\.md$", text[text.index("nav:") :], re.MULTILINE)
    assert sorted(linked) == sorted(str(path.relative_to(DOCS)) for path in PAGES)


def test_every_public_module_is_in_the_reference_of_the_api() -> None:
    shown = [name for path in PAGES for name in re.findall(r"^::: (\S+)$", path.read_text(), re.MULTILINE)]
    assert sorted(shown) == sorted(MODULES)


def most_prominent(text: str) -> str:
    """The tags and the title of a page: what its search puts before all other words."""
    tags = re.search(r"\A---\ntags: \[(.*)\]\n---\n", text)
    title = re.search(r"^# (.+)$", text, re.MULTILINE)
    return f"{tags[1] if tags else ''} {title[1] if title else ''}".lower()


@pytest.mark.parametrize(
    ("words", "pages"),
    [
        ("two models", {"tutorials/two-models.md"}),
        ("leaderboard", {"tutorials/compare.md"}),
        ("replay", {"replay.md"}),
        ("self-host", {"tutorials/open-a-room.md", "operations.md"}),
    ],
)
def test_a_search_finds_the_page_that_is_meant_first(words: str, pages: set[str]) -> None:
    found = {str(path.relative_to(DOCS)) for path in PAGES if words in most_prominent(path.read_text())}
    assert found == pages


def words_by_hand(text: str) -> int:
    """As `wc -w` counts them, without tables that a program writes between two comments."""
    return len(re.sub(r"<!-- ([a-z]+)\b.*?<!-- end of \1 -->", "", text, flags=re.DOTALL).split())


def test_what_is_written_by_hand_stays_short_enough_to_read() -> None:
    pages = [page for page in DOCS.rglob("*.md") if page.name not in MADE_BY_PROGRAMS and page.parent.name != "gallery"]
    words = {str(page.relative_to(DOCS)): words_by_hand(page.read_text(encoding="utf-8")) for page in pages}
    assert len(words) > 60
    assert {page: count for page, count in words.items() if count > MAX_WORDS_OF_A_PAGE} == {}
    assert sum(words.values()) <= MAX_WORDS


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
