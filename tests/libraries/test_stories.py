"""Text adventures: those that TextWorld makes, and story files with Jericho. Both libraries are large, so only `make soak`
has them."""

from pathlib import Path

import pytest
from tests.libraries.survey import played, read_results, survey

from cohabit.errors import GameRejected, UnknownAsset
from cohabit.registry import find_world, is_code_source
from cohabit.testing.play import Play

pytestmark = pytest.mark.soak
STORY = f"jericho:{Path(__file__).parents[2] / 'examples' / 'stories' / 'lighthouse.z5'}"
SOLUTION = (
    "pull driftwood", "e", "take can", "w", "n", "unlock door with key", "open door", "n", "take matches", "u",
    "put can in lamp", "light lamp",
)  # fmt: skip


def say(play: Play, words: str) -> str:
    play.at += 1000
    return str(play.room.call("p1", "command", {"words": words}, at=play.at).message)


@pytest.mark.parametrize("source", read_results("textworld").games)
def test_a_game_that_textworld_makes_keeps_the_contract(source: str) -> None:
    assert survey(source).without_counts() == read_results("textworld").games[source].without_counts()


def test_a_command_that_is_not_possible_is_answered_with_those_that_have_its_words() -> None:
    play = Play("textworld:coin_collector", 1, wild=False)
    with pytest.raises(GameRejected, match=r"not possible here; perhaps: go \w+"):
        say(play, "go")
    with pytest.raises(GameRejected, match="the list of legal actions has what is"):
        say(play, "dance on the table")
    assert say(play, "look").startswith("You are in the ")


def test_examples_of_commands_name_things_and_no_prepositions() -> None:
    play = Play(STORY, 1, wild=False)
    examples = {action.parameters["words"] for action in play.room.world.legal(play.room.state.seats[0]) or ()}
    assert "take driftwood" in examples
    assert "take about" not in examples


def test_a_story_is_played_to_its_end_and_its_score_counts() -> None:
    play = Play(STORY, 1, wild=False)
    said = [say(play, words) for words in SOLUTION]
    assert "beam goes out over the sea" in said[-1]
    assert play.room.world.is_over()
    assert play.room.world.returns() == {"1": 20.0}


@pytest.mark.parametrize(
    "words", ["save", "restore", "look. save", "script", "quit", "restart", "x" * 200, "look\nsave", "ä", ""]
)
def test_a_player_cannot_make_a_story_write_files_or_end(words: str) -> None:
    play = Play(STORY, 1, wild=False)
    with pytest.raises(GameRejected, match=r"plain letters|the room does that"):
        say(play, words)
    assert say(play, "look").startswith("Beach")


def test_two_stories_in_one_process_do_not_disturb_each_other() -> None:
    one, other = Play(STORY, 1, wild=False), Play(STORY, 1, wild=False)
    say(one, "north")
    assert "Boathouse" in say(other, "east")
    assert "Foot of the lighthouse" in say(one, "look")


def test_a_story_is_a_file_of_the_operator() -> None:
    assert is_code_source(STORY)
    with pytest.raises(UnknownAsset, match="file not found"):
        find_world("jericho:no/such/story.z5")
    with pytest.raises(UnknownAsset, match="give the path of a story file"):
        find_world("jericho:zork")
    assert played(STORY)[0] > 0
