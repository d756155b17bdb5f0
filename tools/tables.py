"""Write the parts of documentation pages that follow from the code: tables and lists between two comments.

python tools/tables.py           write them
python tools/tables.py --check   exit 1 if one is out of date

A page has `<!-- NAME: written by tools/tables.py -->` and `<!-- end of NAME -->`; what is between them is replaced.
"""

import ast
import csv
import inspect
import io
import json
import re
import tokenize
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from importlib import import_module
from typing import Any

import generated
import msgspec
import public

from cohabit.agents.brains.statecraft import NATIONS
from cohabit.agents.causes import CAUSES
from cohabit.agents.llm.options import MindOptions
from cohabit.faces.cli.verbs import GROUPS
from cohabit.nexus import goals
from cohabit.nexus.values import Reward
from cohabit.registry import BRAINS, GODS, LIBRARIES, PLAYERS, imported
from cohabit.scenario import AgentSpec, Scenario
from cohabit.testing.checker import CHECKS
from cohabit.worlds.crafter.travel import TRAVEL as CRAFTER

Row = Iterable[object]
Made = Callable[[], str]
DOCS = generated.ROOT / "docs"
KINGDOMS = "cohabit.worlds.kingdoms.rules"
INTERNAL = {"CITY_BITS", "COLOURS", "FLYER", "REPORTED_BUILDINGS", "SWIMMER", "TRAVELLER", "WALKER", "WOODCUTTER"}
"""Constants of Kingdoms that are no rules of the game."""


def table(head: Row, rows: Iterable[Row]) -> str:
    """In Markdown."""
    lines = ["| " + " | ".join(map(str, row)) + " |" for row in rows]
    titles = "| " + " | ".join(map(str, head)) + " |"
    return "\n".join([titles, "|---" * titles.count(" |") + "|", *lines])


def _sentences(text: str | None) -> str:
    """A docstring on one line, in Markdown."""
    return " ".join((text or "").split()).replace("``", "`")


def _first_paragraph(text: str | None) -> str:
    return _sentences((text or "").partition("\n\n")[0])


def verbs() -> str:
    """The verbs of the command line by group."""
    cells = [" · ".join(f"[{verb.name}](cli-reference.md#{verb.name})" for verb in some) for some in GROUPS.values()]
    return table([title.lower() for title in GROUPS], [cells])


def modules() -> str:
    """The public modules, with the page that each is on."""
    shown = {
        module: page.name
        for page in sorted((DOCS / "api").glob("*.md"))
        for module in re.findall(r"^::: (\S+)$", page.read_text(), re.MULTILINE)
    }
    return table(
        ("module", ""),
        (
            (f"[`{name}`]({shown[name]}#{name})", _first_paragraph(import_module(name).__doc__).rstrip(":"))
            for name in public.MODULES
        ),
    )


def scripts() -> str:
    """The built-in scripts that play, by world."""
    worlds: dict[str, list[str]] = {}
    for world, names in [*PLAYERS.items(), ("kingdoms", GODS)]:
        for name in names:
            worlds.setdefault(name, []).append("any" if world == "*" else f"`{world}`")
    rows = (
        (f"`{name}`", ", ".join(on), _first_paragraph(imported(BRAINS[name]).__doc__)) for name, on in worlds.items()
    )
    return table(("brain", "world", "what it does"), rows)


def nations() -> str:
    """The scripted nations of Statecraft."""
    return "\n".join(f"* `{name}`: {_sentences(inspect.getdoc(cls))}" for name, cls in NATIONS.items())


def libraries() -> str:
    """The libraries whose games are worlds."""
    rows = ((f"`{name}:`", f"`cohabit[{one.extra}]`", one.about) for name, one in LIBRARIES.items())
    return table(("library", "extra", "games"), rows)


def causes() -> str:
    """The causes of failed decisions."""
    return table(("cause", ""), ((f"`{name}`", meaning) for name, meaning in CAUSES.items()))


def checks() -> str:
    """The checks of `cohabit check` for worlds."""
    return table(("check", "claim"), ((f"`{name}`", _sentences(check.__doc__)) for name, check in CHECKS.items()))


def fields(cls: type[msgspec.Struct], title: str, none: str = "", mark: str = "`") -> str:
    """The fields of a struct, with what the code says about each: the text below it, or the comment beside it."""
    said = dict(_field_texts(cls))
    rows = []
    for field in msgspec.structs.fields(cls):
        default = "required" if field.required else _default(field, none, mark)
        text = said[field.name]
        rows.append((f"`{field.name}`", default, text[0].upper() + text[1:]))
    return table((title, "default", ""), rows)


def _default(field: msgspec.structs.FieldInfo, none: str, mark: str) -> str:
    value = field.default_factory() if field.default is msgspec.NODEFAULT else field.default
    if value is None or value == "":
        return none if value is None else ""
    return f"{mark}{json.dumps(value)}{mark}"


def _field_texts(cls: type) -> Iterator[tuple[str, str]]:
    source = inspect.getsource(cls)
    tokens = tokenize.generate_tokens(io.StringIO(source).readline)
    comments = {token.start[0]: token.string.lstrip("# ") for token in tokens if token.type == tokenize.COMMENT}
    (body,) = (node.body for node in ast.parse(source).body if isinstance(node, ast.ClassDef))
    for node, below in zip(body, [*body[1:], None], strict=True):
        if isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name):
            text = _text_of(below) or comments.get(node.lineno, "")
            yield node.target.id, _sentences(text).removesuffix(".")


def _text_of(node: ast.stmt | None) -> str:
    """The text, if it is one that describes the assignment above it."""
    if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str):
        return node.value.value
    return ""


def numbers(*names: str) -> str:
    """The constants of some modules of the rules of Kingdoms, with what the code says about them."""
    rows = [row for name in names for row in _constants(name)]
    return table(("rule", "numbers"), rows)


def _constants(name: str) -> Iterator[Row]:
    """A text describes all constants above it. One that does not end a sentence goes on below the next constants."""
    module = import_module(f"{KINGDOMS}.{name}")
    found: list[str] = []
    goes_on = ""
    for node in ast.parse(inspect.getsource(module)).body:
        if isinstance(node, ast.Assign):
            found += [part.id for target in node.targets for part in ast.walk(target) if isinstance(part, ast.Name)]
        elif text := _sentences(_text_of(node)):
            rules = [one for one in found if not one.startswith("_") and one not in INTERNAL]
            if rules and all(_is_plain(getattr(module, one)) for one in rules):
                shown = ", ".join(f"`{name}.{one}` {_shown(getattr(module, one))}" for one in rules)
                yield f"{goes_on}{text.removesuffix('.')}", shown
            goes_on, found = "" if text.endswith(".") else "… ", []
        else:
            found = []


def _is_plain(value: Any) -> bool:
    return isinstance(value, int | tuple | dict)


def _shown(value: Any) -> str:
    if isinstance(value, tuple) and isinstance(value[0], int):
        return f"{value[0]} in {value[1]}"
    pairs = value.items() if isinstance(value, dict) else value if isinstance(value, tuple) else ()
    return ", ".join(f"{key} {number}" for key, number in pairs) or str(value)


def example() -> str:
    """The players of Nim in the example of a report, from its tables."""
    folder = DOCS / "four-worlds"
    with (folder / "ratings.csv").open() as file:
        ratings = {row["player"]: row for row in csv.DictReader(file) if row["setting"] == "nim"}
    with (folder / "players.csv").open() as file:
        players = [row for row in csv.DictReader(file) if row["setting"] == "nim" and not row["lineup"]]
    head = ("player", "games", "won", "drawn", "score", "rating", "decisions", "failed")
    return table(head, (
        (
            *(row[name] for name in ("player", "games", "won", "drawn")), f"{float(row['mean']):.2f}",
            "{:.1f} ± {:.1f}".format(*(float(ratings[row["player"]][name]) for name in ("mu", "sigma"))),
            row["decisions"], row["failures"],
        )
        for row in players
    ))  # fmt: skip


def lessons() -> str:
    """The lessons of Crafter: how much each deed teaches."""
    by_skill: dict[str, list[str]] = {}
    for deed, lesson in CRAFTER.lessons.items():
        by_skill.setdefault(lesson.domain.replace("_", " "), []).append(f"`{deed}` {lesson.points:g}")
    return table(("skill", "deeds and their points"), ((skill, ", ".join(sorted(d))) for skill, d in by_skill.items()))


def bonuses() -> str:
    """The bonuses that skills give in Crafter."""
    return table(("bonus", "skill", "above", "value", "what it is"), (
        (
            f"`{rule.name}`", rule.domain.replace("_", " "), f"{rule.threshold:g}",
            f"{rule.base:g}" if rule.is_flag else f"{rule.factor:g} × skill{', rounded down' * rule.whole}",
            rule.description,
        )
        for rule in CRAFTER.bonuses
    ))  # fmt: skip


def goods() -> str:
    """The items of Crafter that can leave it."""
    by_category: dict[str, list[str]] = {}
    for name, kind in CRAFTER.items.items():
        by_category.setdefault(kind.category, []).append(f"`{name}` {kind.tier}")
    return table(("category", "items and their tiers"), ((kind, ", ".join(i)) for kind, i in by_category.items()))


def metagoals() -> str:
    """The meta-goals of the Nexus."""
    rows = ((f"`{one.id}`", one.description, _reward(one.reward)) for one in goals.GOALS.values())
    return table(("goal", "what it asks for", "reward"), rows)


def _reward(reward: Reward) -> str:
    parts = [f"title {reward.title}"]
    parts += [f"`{name}` {amount:g}" for name, amount in reward.bonuses.items()]
    parts += [f"{domain.replace('_', ' ')}: {part:.0%} of what is missing" for domain, part in reward.skills.items()]
    return "; ".join(parts)


BLOCKS: dict[str, dict[str, Made]] = {
    "agents": {"scripts": scripts},
    "api/index": {"modules": modules},
    "cli": {"verbs": verbs},
    "compare": {"example": example},
    "kingdoms-rules": {
        "creatures": partial(numbers, "life", "walk"),
        "animals": partial(numbers, "wildlife"),
        "fighting": partial(numbers, "battle"),
        "fire": partial(numbers, "vegetation"),
        "cities": partial(numbers, "cities", "city_life"),
        "settlers": partial(numbers, "settlers"),
        "trade": partial(numbers, "economy"),
        "crowns": partial(numbers, "realms", "diplomacy"),
        "armies": partial(numbers, "armies"),
        "sieges": partial(numbers, "siege"),
    },
    "libraries": {"libraries": libraries},
    "models": {"options": partial(fields, MindOptions, "option", "the service's own", ""), "causes": causes},
    "nexus-rules": {"lessons": lessons, "bonuses": bonuses, "goods": goods, "metagoals": metagoals},
    "scenarios": {
        "scenario": partial(fields, Scenario, "key"),
        "members": partial(fields, AgentSpec, "key of an agent"),
    },
    "statecraft-world": {"nations": nations},
    "worlds": {"checks": checks},
}
"""By page: what writes each part."""


def page(name: str) -> str:
    """The page with its parts written again."""
    text = (DOCS / f"{name}.md").read_text(encoding="utf-8")
    for part, made in BLOCKS[name].items():
        begin, end = f"<!-- {part}: written by tools/tables.py -->\n", f"\n<!-- end of {part} -->"
        before, marked, rest = text.partition(begin)
        _, closed, after = rest.partition(end)
        if not (marked and closed):
            raise ValueError(f"{name}.md has no part {part}")
        text = before + begin + made() + end + after
    return text


PAGES: generated.Files = {f"docs/{name}.md": partial(page, name) for name in BLOCKS}


if __name__ == "__main__":
    raise SystemExit(generated.run(PAGES, "tools/tables.py"))
