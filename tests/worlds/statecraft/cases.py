"""States, rules and answers for these tests: fixed ones, and random ones for Hypothesis."""

from typing import Any

from hypothesis import strategies as st

from cohabit.worlds.statecraft import GameState, Rules

NAMES = ["Ares", "Boreas", "Circe", "Demeter"]


def make_state(mils: dict[str, int] | None = None, land: int = 2, graph: bool = True, **more: Any) -> GameState:
    """Nations on a line of territories, ``land`` each: Ares owns a0 and a1, Boreas b0 and b1 …; capitals a0, b0 …"""
    mils = dict.fromkeys(NAMES, 5) if mils is None else mils
    territories = {name: [f"{name[0].lower()}{i}" for i in range(land)] for name in sorted(mils)}
    line = [territory for name in sorted(mils) for territory in territories[name]]
    neighbours = {each: [*line[max(i - 1, 0) : i], *line[i + 1 : i + 2]] for i, each in enumerate(line)}
    return GameState(
        turn=3,
        mils=mils,
        territories=territories,
        welfare=dict.fromkeys(mils, 100),
        capitals={name: owned[0] for name, owned in territories.items() if owned},
        graph=neighbours if graph else None,
        **more,
    )


@st.composite
def states(draw: st.DrawFn) -> GameState:
    """Any number of nations, on any map or none."""
    names = draw(st.lists(st.sampled_from([*NAMES, "b", "Z", "ä"]), min_size=1, max_size=6, unique=True))
    land = [f"t{i:02}" for i in range(draw(st.integers(0, 14)))]
    owners = {each: draw(st.sampled_from([*names, ""])) for each in land}
    territories = {name: [each for each in land if owners[each] == name] for name in names}
    pairs = draw(st.lists(st.tuples(st.sampled_from(land), st.sampled_from(land)), max_size=30)) if land else []
    graph: dict[str, list[str]] = {each: [] for each in land}
    for one, other in pairs:
        if one != other and other not in graph[one]:
            graph[one].append(other)
            graph[other].append(one)
    return GameState(
        turn=draw(st.integers(0, 40)),
        mils={name: draw(st.integers(0, 40)) for name in names},
        territories=territories,
        welfare={name: draw(st.integers(0, 500)) for name in names},
        capitals={name: owned[0] for name, owned in territories.items() if owned and draw(st.booleans())},
        graph={each: sorted(neighbours) for each, neighbours in graph.items()} if draw(st.booleans()) else None,
    )


def rules() -> st.SearchStrategy[Rules]:
    return st.builds(
        Rules,
        c_money_per_territory=st.integers(0, 12),
        c_mil_purchase_price=st.integers(1, 20),
        c_mil_upkeep_price=st.integers(0, 4),
        c_defense_destroy_factor=st.integers(1, 5),
        c_damage_per_attack_mil=st.integers(0, 6),
        trade_numerator=st.integers(0, 300),
        trade_denominator=st.sampled_from([1, 2, 3, 100]),
        loss_cap=st.sampled_from(["committed", "army"]),
    )


@st.composite
def answers(draw: st.DrawFn, state: GameState) -> dict[str, dict[str, Any]]:
    """Valid answers of some nations, which also contain unknown names and impossible orders."""
    names = [*state.nations, "nobody"]
    land = [each for owned in state.territories.values() for each in owned] + ["nowhere"]
    amounts = st.dictionaries(st.sampled_from(names), st.integers(0, 60), max_size=4)
    ratings = st.dictionaries(st.sampled_from(names), st.integers(1, 10), max_size=4)
    fields = {
        "purchase_mils": st.integers(0, 30),
        "attacks": amounts,
        "cede_territories": st.dictionaries(
            st.sampled_from(names), st.lists(st.sampled_from(land), max_size=4), max_size=3
        ),
        "money_grants": amounts,
        "messages": st.dictionaries(st.sampled_from([*names, "all"]), st.text("aé ", max_size=5), max_size=3),
        "summary_last_turn": st.text("bc ", max_size=5),
        "history_summary": st.text("de ", max_size=5),
        "reasoning": st.text("fg ", max_size=5),
        "disband_mils": st.integers(0, 30),
        "keeps_word_report": ratings,
        "aggressor_report": ratings,
    }
    some = st.fixed_dictionaries({}, optional=fields)
    return {name: draw(some) for name in state.nations if draw(st.booleans())}


@st.composite
def turns(draw: st.DrawFn) -> tuple[GameState, dict[str, dict[str, Any]], Rules]:
    state = draw(states())
    return state, draw(answers(state)), draw(rules())
