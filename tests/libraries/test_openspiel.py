"""The games of OpenSpiel as worlds."""

import random
import re
from typing import Any

import pytest
from tests.libraries.survey import read_results, survey

from cohabit import Eye, GameRejected, Seat, Stream, World
from cohabit.errors import BadArgs, UnknownAsset
from cohabit.model.seat import ALL, PUBLIC
from cohabit.registry import find_library, find_world, listed_games, make_world
from cohabit.testing.checker import check_here

pyspiel = pytest.importorskip("pyspiel", reason="OpenSpiel is not installed (the extra openspiel)")
BIG_SEED = 2**127 + 5


def opened(game: str, seed: int = BIG_SEED) -> World:
    world = make_world(f"openspiel:{game}", {})
    world.reset(seed, seats(world))
    return world


def seats(world: World) -> list[Seat]:
    return [Seat(name, name) for name in world.spec.seat_names]


def play(world: World, seat: str, move: str) -> str:
    done = next(action for action in world.actions() if action.name == "play")
    return str(done.run(Seat(seat, seat), move=move).public)


def send(world: World, seat: str, move: str) -> str:
    """What the player is told."""
    done = next(action for action in world.actions() if action.name == "play")
    return str(done.run(Seat(seat, seat), move=move).message)


def moves(world: World, seat: str) -> list[str]:
    return [action.parameters["move"] for action in world.legal(Seat(seat)) or ()]


def play_at_random(world: World, seed: int, most: int = 1000) -> None:
    draw = random.Random(seed)
    for _ in range(most):
        if world.is_over():
            return
        for seat in list(world.to_move()):
            play(world, seat, draw.choice(moves(world, seat)))
        if world.pace == "rounds":
            world.resolve()


def own(seat: str) -> Eye:
    return Eye(seat, "own")


def test_every_game_of_the_library_is_listed_or_left_out_with_a_reason() -> None:
    listed, left_out = listed_games("openspiel"), find_library("openspiel").left_out()
    registered = {kind.short_name for kind in pyspiel.registered_games()}
    assert len(listed) >= 100
    assert {game.name for game in listed.values()} | left_out.keys() == registered
    assert all(left_out.values())
    assert len([game for game in listed.values() if game.about]) >= 50


def test_what_the_list_says_about_seats_is_what_the_library_says() -> None:
    listed = listed_games("openspiel")
    assert listed
    wrong = {
        game.name: game.seats for game in listed.values() if game.seats[0] != pyspiel.load_game(game.name).num_players()
    }
    assert not wrong


@pytest.mark.parametrize("game", ["kuhn_poker", "goofspiel"])
def test_a_game_passes_every_check(game: str) -> None:
    report = check_here(f"openspiel:{game}", seeds=(1,), steps=12)
    assert not report.failed(), report


@pytest.mark.parametrize("game", ["tic_tac_toe", "chess", "backgammon", "hearts", "gin_rummy", "tarok"])
def test_random_players_come_to_the_end_and_the_steps_restore_the_same_game(game: str) -> None:
    world, other = opened(game), opened(game, 1)
    play_at_random(world, 3)
    assert world.is_over()
    other.restore(world.snapshot())
    assert other.observe(ALL) == world.observe(ALL)
    assert other.snapshot() == world.snapshot()


def test_the_same_seed_deals_the_same_and_another_seed_something_else() -> None:
    for game in ("gin_rummy", "tarok", "negotiation"):
        first, again, other = (opened(game, seed).observe(own("player0")) for seed in (5, 5, 6))
        assert first == again != other


def test_a_board_has_labels_for_the_squares_that_moves_name() -> None:
    chess = opened("chess")
    play(chess, "white", "e4")
    text = chess.observe(own("black")).text
    assert "4  . . . . P . . ." in text
    assert "   a b c d e f g h" in text
    assert "Last moves: white e4" in text
    xs = opened("tic_tac_toe")
    play(xs, "x", "(1,2)")
    assert "1  . . x" in xs.observe(PUBLIC).text
    assert "o" not in opened("dark_hex").observe(own("x")).text.partition("You are")[0].replace("to", "")


def test_every_reader_understands_the_text_of_its_games() -> None:
    from cohabit.libraries.openspiel import boards, hands

    read = 0
    for source in listed_games("openspiel"):
        world: Any = opened(source.partition(":")[2])
        name = world.about.reader
        for _ in range(12 if name else 0):
            for player in range(len(world.seats)):
                text = world.text_of(world.state, player)
                assert getattr(boards, name, getattr(hands, name, None))(text, world.game, player), source
                read += 1
            play_at_random(world, read, 1)
    assert read > 500


def test_a_move_may_be_written_with_other_spaces_and_letters_and_a_wrong_one_says_what_is_legal() -> None:
    world = opened("tic_tac_toe")
    assert play(world, "x", " ( 0, 0 )") == "x plays (0,0)"
    before = world.snapshot()
    for wrong in ("(0,0)", "(9,9)", "x" * 500, ""):
        with pytest.raises(GameRejected, match="choose one of"):
            play(world, "o", wrong)
    with pytest.raises(GameRejected, match="wait until it is your turn"):
        play(world, "x", "(1,1)")
    assert world.snapshot() == before


def test_a_move_may_be_named_without_the_words_before_it_and_its_brackets() -> None:
    world = opened("goofspiel")
    assert send(world, "player0", "13") == "You chose Bid: 13."
    assert send(opened("blotto"), "player0", "0,5,5") == "You chose [0,5,5]."
    with pytest.raises(GameRejected, match="choose one of"):
        play(world, "player1", "14")


def test_a_move_is_listed_once_though_the_library_has_it_for_each_order_of_the_dice() -> None:
    world: Any = opened("backgammon")
    repeated = 0
    for _ in range(40):
        (seat,) = world.to_move()
        every, listed = world.legal_moves(world.players[seat]), moves(world, seat)
        repeated += len(every) - len(listed)
        results = {str(world.state.child(every[words])) for words in listed}
        assert results == {str(world.state.child(step)) for step in every.values()}
        play(world, seat, listed[-1])
    assert repeated > 40


def test_the_points_of_backgammon_are_numbered_as_the_player_counts_them() -> None:
    world: Any = opened("backgammon")
    near = "12 11 10  9  8  7 |  6  5  4  3  2  1"
    for seat, mark in (("x", "x"), ("o", "o")):
        lines = world.observe(own(seat)).text.split("\n")
        row = lines.index(near)
        on_eight = lines[row + 1 if row == 0 else row - 1].replace("|", "").split()[4]
        assert on_eight == mark  # each begins with three checkers on its point 8
    assert "Dice: " in lines[14]


def test_a_text_says_whose_turn_it_is_and_that_the_game_goes_on_nowhere_because_the_room_does() -> None:
    games = ["blotto", "gin_rummy", "pig", "go_fish", "lines_of_action", "hanabi", "maedn", "negotiation", "blackjack"]
    texts = []
    for game in games:
        world: Any = opened(game)
        assert world.kind.short_name == game
        play_at_random(world, 2, 3)
        texts += [(game, line) for seat in world.players for line in world.observe(own(seat)).text.split("\n")]
    assert len(texts) > 60
    wrong = re.compile(r"(current|cur|previous) ?(player|turn)|^turn:|repeated move|terminal|outcome", re.IGNORECASE)
    assert not [found for found in texts if wrong.search(found[1])]


def test_a_player_of_hanabi_reads_the_cards_of_others_and_what_is_known_of_its_own() -> None:
    world = opened("hanabi")
    hints = [move for move in moves(world, "player0") if "color" in move]
    told = send(world, "player0", hints[0])
    assert told == f"You play {hints[0]}."
    mine, theirs = (world.observe(own(seat)).text for seat in ("player1", "player0"))
    colour = hints[0][-1]
    assert f"hinted {colour}X, can be {colour} 1 2 3 4 5" in mine.partition("The hand of player +1:")[0]
    assert re.search(rf"  \d: {colour}\d, hinted {colour}X", theirs.partition("The hand of player +1:")[2])


def test_the_last_one_to_choose_in_a_round_is_told_what_everybody_played() -> None:
    world = opened("goofspiel")
    send(world, "player0", "Bid: 3")
    assert "You chose Bid: 3 for this round." in world.observe(own("player0")).text
    assert "Bid: 3" not in world.observe(own("player1")).text
    send(world, "player1", "Bid: 7")
    world.resolve()
    outcome = world.outcome(Seat("player1", "player1"))
    assert outcome is not None
    assert outcome.message == "player0 plays Bid: 3; player1 plays Bid: 7."
    assert "Rounds were won by: player1." in world.observe(own("player0")).text


def test_a_player_who_stays_to_move_is_told_so() -> None:
    world = opened("phantom_ttt")
    assert send(world, "x", "(1,1)") == "You play (1,1)."
    assert send(world, "o", "(1,1)") == "You play (1,1). It is still your turn."


def test_the_goal_of_a_walk_is_on_its_grid_and_the_game_ends_there() -> None:
    world = opened("pathfinding")
    assert world.observe(own("player0")).text.startswith("A.*..**\n")
    for move in ("Up", "Left", "Left", "Down", "Left", "Left", "Left", "Up", "Up"):
        send(world, "player0", move)
        world.resolve()
    text = world.observe(own("player0")).text
    assert (world.is_over(), text[0]) == (True, "0")


@pytest.mark.parametrize(("items", "inspects", "points"), [(2, True, -4), (0, True, 3), (2, False, 1)])
def test_the_rules_of_sheriff_say_what_a_cargo_is_worth(items: int, inspects: bool, points: int) -> None:
    world = opened("sheriff")
    assert "pays 2 for each illegal item, or gets 3 if there are none; else it earns 1 for each" in world.describe()
    send(world, "smuggler", f"PlaceIllegalItems(num={items})")
    for bribe, answer in ((3, not inspects), (0, not inspects), (0, inspects), (1, inspects)):
        send(world, "smuggler", f"Bribe(amount={bribe})")
        send(world, "sheriff", f"InspectionFeedback(will_inspect={answer})")
    assert world.returns() == {"smuggler": points, "sheriff": 1 if not inspects else -points}


def test_a_tie_of_votes_eliminates_nobody_in_social_deduction_as_its_rules_say() -> None:
    world = opened("social_deduction")
    assert "who alone has the most votes leaves" in world.describe()
    for seat in world.spec.seat_names:
        send(world, seat, "SKIP")
    for seat, at in zip(world.spec.seat_names, (1, 2, 1, 2, 5, 4), strict=True):
        send(world, seat, f"VOTE_PLAYER_{at}")
    text = world.observe(own("player0")).text
    assert "Alive: 0 1 2 3 4 5" in text
    assert "Round 1" in text


def test_the_rules_of_cribbage_say_what_the_reward_is() -> None:
    world = opened("cribbage")
    assert "the reward is one's points, with 1,000 more for the winner and 1,000 less for the loser" in world.describe()
    play_at_random(world, seed=1)
    assert world.is_over()
    found = re.search(r"Scores: (\d+) (\d+)", world.observe(own("player0")).text)
    assert found
    points = [int(score) for score in found.groups()]
    assert max(points) >= 121
    assert list(world.returns().values()) == [n + (1000 if n == max(points) else -1000) for n in points]


def test_the_rules_of_oh_hell_say_what_a_bid_of_minus_one_is() -> None:
    world = opened("oh_hell")
    assert "Bids:        -1 -1 -1" in world.observe(own("player0")).text
    assert "-1 stands for a bid that is not made yet" in world.describe()


def test_every_card_of_leduc_poker_for_three_has_a_name() -> None:
    assert "(J < Q < K < A)" in opened("leduc_poker(players=3)").observe(own("player0")).text


def test_a_player_sees_its_own_card_and_a_spectator_none() -> None:
    world = opened("kuhn_poker")
    cards = {seat: world.observe(own(seat)).text for seat in ("player0", "player1")}
    assert all(text.startswith("Your card: ") for text in cards.values())
    assert cards["player0"].split()[2] != cards["player1"].split()[2]
    assert "card" not in world.observe(PUBLIC).text
    assert play(world, "player0", "Bet") == "player0 plays Bet"
    assert "player0 Bet" in world.observe(PUBLIC).text


def test_hidden_moves_are_told_to_nobody_else() -> None:
    world = opened("phantom_ttt")
    before = world.observe(own("o"))
    assert play(world, "x", "(1,1)") == ""
    assert world.observe(own("o")).text == before.text
    assert "(1,1)" in world.observe(own("x")).text


def test_choices_of_a_round_are_hidden_until_all_have_chosen() -> None:
    world = opened("matrix_pd")
    before = world.observe(own("player1"))
    play(world, "player0", "Defect")
    assert world.observe(own("player1")) == before
    assert "Defect" in str(world.observe(ALL).status["chosen"])
    assert world.to_move() == ["player1"]
    play(world, "player1", "Cooperate")
    assert [told.text for told in world.resolve()] == ["player0 plays Defect", "player1 plays Cooperate"]
    assert world.returns() == {"player0": 10, "player1": 0}
    assert [standing.seat for standing in world.standings()] == ["player0", "player1"]


def test_go_fish_does_not_tell_which_card_another_player_drew() -> None:
    game = pyspiel.load_game("go_fish")
    assert "asked -3" in _texts_of_library(game), "the library no longer shows it: take `conceal` out of the catalogue"
    for seed in range(5):
        world = opened("go_fish", seed)
        play_at_random(world, seed, 20)
        seen = world.observe(own("player1"))
        assert "-3" not in seen.text + str(seen.status)


def test_the_card_of_a_player_who_folded_is_not_shown_between_hands() -> None:
    world = opened("repeated_leduc_poker")
    play(world, "player0", "Raise")
    play(world, "player1", "Fold")
    seen = world.observe(own("player0"))
    assert "finished" in seen.text
    assert "Cards" not in seen.text + str(seen.status)
    assert "Cards" in world.observe(ALL).text


def _texts_of_library(game: object) -> str:
    draw, texts, state = random.Random(3), [], game.new_initial_state()  # type: ignore[attr-defined]
    while not state.is_terminal():
        chance = state.is_chance_node()
        state.apply_action(draw.choice([a for a, _ in state.chance_outcomes()] if chance else state.legal_actions()))
        texts += [] if state.is_chance_node() else [state.observation_string(1)]
    return "\n".join(texts)


@pytest.mark.parametrize("game", ["leduc_poker", "liars_dice", "cribbage", "dark_chess"])
def test_what_is_hidden_can_be_redrawn_and_what_was_seen_stays(game: str) -> None:
    different = 0
    for seed in range(8):
        world = opened(game, seed)
        play_at_random(world, seed, 2)
        seat = world.spec.seat_names[0]
        seen, everything = world.observe(own(seat)), world.observe(ALL)
        world.resample(own(seat), Stream(seed, "redraw"))
        assert world.observe(own(seat)) == seen
        different += world.observe(ALL) != everything
    assert different >= 2


def test_a_game_whose_hidden_part_cannot_be_redrawn_does_not_claim_a_test_of_leaks() -> None:
    tested = {name for name, row in read_results("openspiel").games.items() if "comparisons" in row.leak}
    for game in ("deep_sea", "negotiation", "solitaire", "tarok"):
        assert f"openspiel:{game}" not in tested
        with pytest.raises(NotImplementedError):
            opened(game).resample(PUBLIC, Stream(1, "redraw"))


def test_a_player_who_does_not_answer_folds_or_passes() -> None:
    world = opened("leduc_poker")
    play(world, "player0", "Raise")
    world.skip(Seat("player1", "player1"))
    assert world.is_over()
    assert world.returns() == {"player0": 1, "player1": -1}


def test_parameters_change_the_game_and_its_seats() -> None:
    world = find_world("openspiel:leduc_poker(players=3)")
    assert world.spec.seats == 3
    assert world.spec.name == "openspiel_leduc_poker_players_3"
    four = opened("go(board_size=4)")
    assert "4 + + + +" in four.observe(PUBLIC).text


@pytest.mark.parametrize(
    ("name", "says"),
    [
        ("go(size=9)", "board_size"),
        ("go(board_size=nine)", "must be int"),
        ("go(board_size=-1)", "OpenSpiel refuses them"),
        ("bridge(dealer=1000000)", "ends its process"),  # a segmentation fault
        ("y(board_size=1000000)", "choose other parameters"),  # takes all memory
        ('bargaining(instances_file="/etc/passwd")', "no parameter 'instances_file'"),
    ],
)
def test_parameters_that_the_library_cannot_stand_are_refused(name: str, says: str) -> None:
    with pytest.raises(BadArgs, match=says):
        find_world(f"openspiel:{name}")


def test_a_game_that_is_not_there_is_refused_with_the_reason() -> None:
    with pytest.raises(UnknownAsset) as unknown:
        find_world("openspiel:ches")
    assert "openspiel:chess" in unknown.value.did_you_mean
    with pytest.raises(UnknownAsset, match="reads a game from a file"):
        find_world("openspiel:efg_game")


def test_the_results_have_every_listed_game_and_no_failed_check() -> None:
    results = read_results("openspiel")
    assert results.games.keys() == listed_games("openspiel").keys()
    assert not {name: row.failed for name, row in results.games.items() if row.failed}


@pytest.mark.soak
@pytest.mark.timeout(600)
@pytest.mark.parametrize("source", sorted(read_results("openspiel").games))
def test_a_game_is_as_the_results_say(source: str) -> None:
    assert survey(source).without_counts() == read_results("openspiel").games[source].without_counts()
