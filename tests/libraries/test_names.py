"""Names of games of other libraries, and what may be opened by them."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cohabit.errors import BadArgs, CohabitError, UnknownAsset
from cohabit.library import GameName, checked_parameters, parse_name
from cohabit.registry import (
    LIBRARIES,
    find_library,
    find_world,
    is_code_source,
    is_library_source,
    is_listed,
    trusted_source,
)


def parsed(source: str) -> GameName:
    found = parse_name(source, LIBRARIES)
    assert found is not None
    return found


@pytest.mark.parametrize(
    ("source", "game", "parameters"),
    [
        ("openspiel:chess", "chess", ()),
        ("openspiel:leduc_poker(players=3)", "leduc_poker", (("players", 3),)),
        ('textarena:Wordle-v0(hard=True, word="tree")', "Wordle-v0", (("hard", True), ("word", "tree"))),
        ("gymnasium:MiniGrid-DoorKey-6x6-v0(size=-1.5)", "MiniGrid-DoorKey-6x6-v0", (("size", -1.5),)),
        ("openspiel:go(komi=7.5,board_size=9)", "go", (("board_size", 9), ("komi", 7.5))),
        ("openspiel:hex(string_rep=explicit)", "hex", (("string_rep", "explicit"),)),
        ("gymnasium:my_module:make_env", "my_module:make_env", ()),
    ],
)
def test_a_name_says_library_game_and_parameters_in_any_order(source: str, game: str, parameters: object) -> None:
    found = parsed(source)
    assert (found.game, found.parameters) == (game, parameters)
    assert parsed(str(found)) == found


@given(
    st.dictionaries(
        st.from_regex(r"[a-z][a-z_]{0,8}", fullmatch=True).filter(lambda name: name.isidentifier()),
        st.booleans() | st.integers(-99, 99) | st.floats(-9, 9) | st.text("ab'\"(),= ", max_size=8),
        max_size=3,
    )
)
def test_the_written_name_of_a_game_is_read_as_the_same_game(parameters: dict[str, bool | int | float | str]) -> None:
    from keyword import iskeyword

    name = GameName("openspiel", "go", tuple(sorted((k, v) for k, v in parameters.items() if not iskeyword(k))))
    assert parsed(str(name)) == name
    assert name.world_name.isidentifier()


@pytest.mark.parametrize(
    "source",
    [
        "openspiel:", "openspiel:che ss", "openspiel:go(9)", "openspiel:go(board_size)", "openspiel:go(a=1,a=2)",
        "openspiel:go(a=[1])", "openspiel:go(a=__import__('os'))", "openspiel:go(**a)", "openspiel:go(" + "(" * 90 + "))",
        "openspiel:" + "x" * 300,
    ],
)  # fmt: skip
def test_a_name_that_cannot_be_read_is_refused(source: str) -> None:
    with pytest.raises(BadArgs):
        find_world(source)


def test_other_names_and_files_are_not_taken_for_games_of_a_library() -> None:
    for source in ("nim", "folder/game.py", "game.py:Game", "C:game.py", "unknown:chess", "openspiel"):
        assert not is_library_source(source)


def test_a_library_that_is_not_installed_says_how_to_install_it(monkeypatch: pytest.MonkeyPatch) -> None:
    absent = type(LIBRARIES["openspiel"])("cohabit.libraries.openspiel:OpenSpiel", "no_such_package", "openspiel", "")
    monkeypatch.setitem(LIBRARIES, "absent", absent)
    with pytest.raises(UnknownAsset, match=r"pip install 'cohabit\[openspiel\]'"):
        find_world("absent:chess")
    assert not is_listed("absent:chess")


def test_an_unknown_library_is_refused_with_those_there_are() -> None:
    with pytest.raises(UnknownAsset, match="openspiel"):
        find_library("openspeil")


def test_a_record_that_names_code_of_ones_own_does_not_run_it_unless_the_user_names_it() -> None:
    own = "gymnasium:my_module:make_env"
    assert [is_code_source(each) for each in (own, "game.py", "openspiel:chess")] == [True, True, False]
    with pytest.raises(BadArgs, match="is not run because a record names it"):
        trusted_source(own, ["game.py"])
    assert trusted_source(own, [own]) == own
    assert trusted_source("openspiel:chess") == "openspiel:chess"


def test_wrong_parameters_are_refused_with_those_that_the_game_takes() -> None:
    takes = {"players": int, "hard": bool}
    assert checked_parameters(parsed("openspiel:x(players=3,hard=True)"), takes) == {"players": 3, "hard": True}
    for wrong in ("player=3", "players=x", "hard=3"):
        with pytest.raises(CohabitError) as refused:
            checked_parameters(parsed(f"openspiel:x({wrong})"), takes)
        assert "players" in refused.value.message or "hard" in refused.value.message
