"""The built-in players of Kingdoms: what each does for a given observation."""

from typing import Any

import pytest

from cohabit.agents.brains.kingdoms import kings
from cohabit.agents.brains.kingdoms.gods import CATASTROPHES, RACES, Calamity, Civilizer, Ecologist
from cohabit.agents.brains.kingdoms.kings import King, Steward, Warlord
from cohabit.agents.brains.kingdoms.story import CHAPTER, FATES, PASSAGE, Chronicler, DungeonMaster
from cohabit.agents.contract import Heard
from cohabit.model.action import Action
from cohabit.model.observation import Effect, Event, Observation
from cohabit.worlds.kingdoms.powers.table import POWERS

ME, RIVAL = 1, 2


def line(number: int, people: int, *, player: bool = True, cities: int = 1) -> dict[str, Any]:
    return {"id": number, "race": RACES[number - 1], "people": people, "cities": cities, "player": player}


def city(number: int, kingdom: int, **more: int) -> dict[str, int]:
    place = {"id": number, "kingdom": kingdom, "x": 10 * number, "y": 20, "people": 30, "soldiers": 5}
    return place | {"loyalty": 90, "siege": 0} | more


def throne(people: int = 60, rival: int = 60, *, hungry: bool = False, **more: Any) -> Observation:
    """The observation of a king whose rival has ``rival`` people."""
    status = {
        "tick": 1000, "map": [192, 192], "kingdoms": {"Mine": line(ME, people), "Theirs": line(RIVAL, rival)},
        "cities": {"Home": city(1, ME)}, "kingdom_id": ME, "people": people, "soldiers": 20, "faith": 0,
        "at_war_with": [], "peace_offered_to": [], "peace_offered_by": [], "orders": {},
    }  # fmt: skip
    return Observation(status=status | more, active_effects=[Effect("hunger in Home")] if hungry else [])


def heaven(tick: int = 1000, **more: Any) -> Observation:
    """The observation of a god in a world without problems."""
    status = {
        "tick": tick, "map": [192, 192], "kingdoms": {"One": line(1, 100), "Two": line(2, 40)},
        "cities": {"Onetown": city(1, 1), "Twotown": city(2, 2)}, "wars": {}, "laws": [], "fires": None,
        "creatures": dict.fromkeys([*RACES, *ANIMALS], 50),
    }  # fmt: skip
    return Observation(status=status | more)


ANIMALS = ("sheep", "cow", "deer", "horse", "goat", "rabbit", "fox", "wolf", "bear")


def done(king: King, seen: Observation, most: int = 20) -> list[str]:
    """The actions of a king, one after the other, as if each were carried out and nothing else changed."""
    status = dict(seen.status)
    actions: list[str] = []
    while len(actions) < most:
        action = king.decide(Observation(status=status, active_effects=seen.active_effects))
        if action is None:
            break
        actions.append(action.name)
        status = _carried_out(status, action)
    return actions


def _carried_out(status: dict[str, Any], action: Action) -> dict[str, Any]:
    match action.name, action.parameters:
        case "muster", {"percent": percent}:
            return status | {"orders": status["orders"] | {"muster": f"{percent}% (3 of 9 soldiers)"}}
        case "declare_war", {"kingdom_id": number}:
            return status | {"at_war_with": [number]}
        case "raid", {"kingdom_id": number}:
            return status | {
                "orders": {k: v for k, v in status["orders"].items() if k == "muster"} | {"raid": str(number)}
            }
        case "fortify", _:
            return status | {
                "orders": {k: v for k, v in status["orders"].items() if k == "muster"} | {"fortify": "yes"}
            }
        case "offer_peace", {"kingdom_id": number}:
            return status | {"peace_offered_to": [number]}
        case "rally", {"x": x, "y": y}:
            return status | {"orders": status["orders"] | {"rally": f"{x},{y}"}}
    return status | {"faith": 0}


# -- kings --------------------------------------------------------------------------------------
def test_kings_know_the_cost_of_powers() -> None:
    assert {POWERS[race].faith for race in RACES} == {kings.SPAWN_FAITH}
    known = {"relief": kings.RELIEF_FAITH, "loyalty": kings.LOYALTY_FAITH, "bounty": kings.BOUNTY_FAITH}
    assert {name: POWERS[name].faith for name in known} == known


def test_a_warlord_musters_declares_war_and_attacks_an_equal() -> None:
    assert done(Warlord(), throne()) == ["muster", "declare_war", "muster", "raid"]


def test_a_steward_stays_at_peace_with_an_equal_and_attacks_a_weak_rival() -> None:
    assert done(Steward(), throne()) == ["muster"]
    assert done(Steward(), throne(rival=30)) == ["muster", "declare_war", "muster", "raid"]


def test_a_steward_at_war_with_a_stronger_kingdom_fortifies() -> None:
    assert done(Steward(), throne(rival=100, at_war_with=[RIVAL])) == ["muster", "fortify"]


def test_a_king_orders_another_raid_when_one_is_over() -> None:
    king = Warlord()
    seen = throne(at_war_with=[RIVAL], orders={"muster": "45%", "raid": "Theirs"})
    assert king.decide(seen) is None
    again = king.decide(throne(at_war_with=[RIVAL], orders={"muster": "45%"}))
    assert again is not None
    assert (again.name, again.parameters) == ("raid", {"kingdom_id": RIVAL})


@pytest.mark.parametrize("king", [Warlord(), Steward()])
def test_a_king_who_is_losing_badly_offers_peace_once(king: King) -> None:
    assert done(king, throne(people=20, rival=100, at_war_with=[RIVAL])).count("offer_peace") == 1


def test_a_king_who_is_winning_does_not_accept_peace() -> None:
    assert "offer_peace" not in done(Warlord(), throne(at_war_with=[RIVAL], peace_offered_by=[RIVAL]))


def test_a_king_rallies_the_army_to_a_besieged_city_and_spends_faith_on_it() -> None:
    seen = throne(at_war_with=[RIVAL], faith=40, cities={"Home": city(1, ME, siege=60)})
    relief = Warlord().decide(seen)
    assert relief is not None
    assert relief.parameters["power_id"] == "relief"
    assert "rally" in done(Warlord(), seen)


@pytest.mark.parametrize("king", [Warlord(), Steward()])
def test_an_army_that_defends_a_city_stays_there_until_the_siege_ends_and_is_then_at_home(king: King) -> None:
    first, second = city(1, ME, siege=20), city(2, ME, siege=40)
    orders = {"muster": "45%" if isinstance(king, Warlord) else "35%", "rally": f"{first['x']},{first['y']}"}
    seen = throne(rival=130, at_war_with=[RIVAL], orders=orders, cities={"One": first, "Two": second})
    assert king.decide(seen) is None
    elsewhere = throne(
        rival=130, at_war_with=[RIVAL], orders=orders, cities={"One": first | {"siege": 0}, "Two": second}
    )
    assert king.decide(elsewhere).parameters == {"x": second["x"], "y": second["y"]}  # type: ignore[union-attr]
    free = throne(rival=130, at_war_with=[RIVAL], orders=orders, cities={"One": first | {"siege": 0}})
    assert king.decide(free) is None


def test_a_king_feeds_hungry_people_before_it_spawns_more() -> None:
    seen = throne(rival=100, faith=20, hungry=True, orders={"muster": "18%"})
    bread = Steward().decide(seen)
    assert bread is not None
    assert bread.parameters["power_id"] == "bounty"
    called = Steward().decide(throne(rival=100, faith=30, orders={"muster": "18%"}))
    assert called is not None
    assert (called.name, called.parameters["count"]) == ("spawn", 3)


def test_a_king_without_a_city_gives_no_order() -> None:
    assert Warlord().decide(throne(cities={})) is None


def test_a_king_who_sees_everything_gives_orders_for_its_own_cities_only() -> None:
    seen = throne(faith=40, cities={"Home": city(1, ME), "Away": city(9, RIVAL, siege=90, people=99)})
    spawn = Warlord().decide(Observation(status=seen.status | {"soldiers": 0, "orders": {"muster": "30%"}}))
    assert spawn is not None
    assert (spawn.name, spawn.parameters["x"]) == ("spawn", 10)


def test_a_rival_without_a_city_is_not_attacked() -> None:
    kingdoms = {"Mine": line(ME, 60), "Theirs": line(RIVAL, 5, cities=0)}
    assert "raid" not in done(Warlord(), throne(at_war_with=[RIVAL], kingdoms=kingdoms))


# -- gods ---------------------------------------------------------------------------------------
def test_an_ecologist_does_nothing_in_a_healthy_world() -> None:
    assert Ecologist().decide(heaven()) is None


@pytest.mark.parametrize(
    ("wrong", "expected"),
    [
        ({"fires": {"tiles": 9, "at": [5, 6]}}, {"power_id": "rain", "x": 5, "y": 6}),
        ({"creatures": dict.fromkeys(["human", "elf", *ANIMALS], 50)}, {"entity_id": "orc"}),
        ({"creatures": dict.fromkeys([*RACES, *ANIMALS[:-1]], 50)}, {"entity_id": "bear"}),
        (
            {
                "wars": {"One against Two": {"attacker": 1, "defender": 2}},
                "kingdoms": {"One": line(1, 90), "Two": line(2, 9)},
            },
            {"power_id": "weariness", "x": 10},
        ),
    ],
)
def test_an_ecologist_acts_on_fires_rare_species_and_wars_against_small_kingdoms(
    wrong: dict[str, Any], expected: dict[str, Any]
) -> None:
    action = Ecologist().decide(heaven(**wrong))
    assert action is not None
    assert expected.items() <= action.parameters.items()


def test_a_civilizer_helps_the_smallest_kingdom_until_there_are_enough_people() -> None:
    gift = Civilizer().decide(heaven())
    assert gift is not None
    assert (gift.parameters["x"], gift.reasoning) == (20, "Two is the smallest kingdom")
    assert Civilizer().decide(heaven(kingdoms={"One": line(1, 1500)})) is None


def test_a_god_acts_rarely_and_starts_over_in_a_new_world() -> None:
    god = Civilizer()
    assert god.decide(heaven(1000)) is not None
    assert god.decide(heaven(1050)) is None
    assert god.decide(heaven(1100)) is not None
    assert god.decide(heaven(0)) is not None


def test_a_calamity_strikes_the_largest_kingdom_once_in_5000_ticks_and_announces_it() -> None:
    god = Calamity()
    actions = [(tick, action) for tick in range(0, 15_000, 50) if (action := god.decide(heaven(tick))) is not None]
    struck = [tick for tick, action in actions if action.name == "invoke_power"]
    assert struck == [2500, 7500, 12_500]
    assert all(action.parameters["x"] == 10 for _, action in actions if action.name == "invoke_power")
    assert [action.parameters["kind"] for _, action in actions if action.name == "send_message"] == ["omen"] * 3


# -- storytellers -------------------------------------------------------------------------------
def test_a_dungeon_master_greets_both_then_helps_the_weaker_and_tests_the_stronger() -> None:
    master = DungeonMaster()
    actions = [action for tick in range(0, 3 * CHAPTER, 50) if (action := master.decide(heaven(tick))) is not None]
    words = [action.parameters["content"] for action in actions if action.name == "send_message"]
    assert len(words) == 3
    assert "One and Two" in words[0]
    acts = [action for action in actions if action.name != "send_message"]
    assert [action.reasoning for action in acts] == ["Two is the weaker one", "One is the stronger one"]


def test_a_dungeon_master_does_nothing_when_one_kingdom_is_left() -> None:
    master = DungeonMaster()
    alone = {"kingdoms": {"One": line(1, 100)}}
    assert master.decide(heaven(0)) is not None
    assert all(master.decide(heaven(tick, **alone)) is None for tick in range(50, 4 * CHAPTER, 50))


# -- letters --------------------------------------------------------------------------------------
TRUCE = Heard("ares", "Let us make a TRUCE, neighbour.", str(RIVAL))


def test_a_king_accepts_a_truce_with_an_equal_ends_the_war_answers_and_keeps_its_word() -> None:
    king = Warlord()
    king.hear(TRUCE)
    war = throne(60, 100, at_war_with=[RIVAL])
    first, second = king.decide(war), king.decide(war)
    assert first is not None
    assert second is not None
    assert (first.name, first.parameters) == ("offer_peace", {"kingdom_id": RIVAL})
    assert (second.name, second.parameters["to"]) == ("send_message", "ares")
    assert second.parameters["content"].startswith("Agreed. I shall not attack Theirs")
    weak = throne(90, 60, soldiers=90)
    assert "declare_war" not in done(king, weak)
    assert "declare_war" in done(Warlord(), weak)
    later = throne(90, 60, soldiers=90, tick=1000 + kings.PROMISE_LASTS)
    assert "declare_war" in done(king, later)


def test_a_king_who_is_stronger_refuses_a_truce() -> None:
    king = Warlord()
    king.hear(TRUCE)
    answer = king.decide(throne(90, 60))
    assert answer is not None
    assert answer.parameters["content"].startswith("No. Mine is strong enough")
    assert king.promises == {}


def test_a_king_answers_neither_small_talk_nor_people_without_a_kingdom() -> None:
    king = Steward()
    for letter in (Heard("ares", "nice weather", str(RIVAL)), Heard("zeus", "peace!"), Heard("x", "peace", "9")):
        king.hear(letter)
    assert "send_message" not in done(king, throne(40, 100))


def test_a_chronicler_tells_each_event_once_and_never_acts() -> None:
    scribe = Chronicler()
    war = Event("year 3: One declares war on Two: old hatred.", "danger")
    told = []
    for tick in range(0, 2 * PASSAGE + 1, 50):
        seen = heaven(tick)
        action = scribe.decide(Observation(status=seen.status, recent_events=[war]))
        if action is not None:
            told.append((action.name, action.parameters["to"], action.parameters["content"]))
    assert [(name, to) for name, to, _ in told] == [("send_message", "*")] * 2
    assert "In year 3 One declares war on Two: old hatred. Of 2 crowns One is the greatest" in told[0][2]
    assert "war" not in told[1][2]


def test_a_chronicler_does_not_tell_what_only_some_kingdoms_know() -> None:
    scribe = Chronicler()
    events = [
        Event("year 3: The people of Onetown are starving. (known to One)", "danger"),
        Event("year 4: One declares war on Two: old hatred.", "danger"),
    ]
    told = [
        action.parameters["content"]
        for tick in range(0, PASSAGE + 1, 50)
        if (action := scribe.decide(Observation(status=heaven(tick).status, recent_events=events))) is not None
    ]
    assert "In year 4 One declares war on Two" in told[0]
    assert "Onetown" not in told[0]


def test_no_storyteller_names_a_city() -> None:
    """Its readers may not know that the city exists."""
    assert not any(
        "{city}" in text for text in (*FATES["boons"].values(), *FATES["trials"].values(), *CATASTROPHES.values())
    )


def test_a_chronicler_writes_whole_sentences() -> None:
    scribe = Chronicler()
    events = [Event("year 3: A tornado comes to Onetown.", "danger"), Event("year 3: One takes Twotown.", "danger")]
    one = {"kingdoms": {"One": line(1, 1)}}
    passages = [
        action.parameters["content"]
        for tick in range(0, PASSAGE + 1, 50)
        if (action := scribe.decide(Observation(status=heaven(tick, **one).status, recent_events=events))) is not None
    ]
    assert len(passages) == 1
    assert "In year 3 a tornado comes to Onetown. One takes Twotown. One stands alone, 1 soul strong." in passages[0]
