"""What players see: no more than their bodies do, in few words; what changed; and pictures."""

from hypothesis import given, settings
from hypothesis import strategies as st
from tests.examples import examples
from tests.worlds.planet.playing import GROUND, body_of, do, flat, own, planet, put

from cohabit.model.seat import ALL, PUBLIC, Seat
from cohabit.worlds.starbound.tiles import ID, NAME_OF_LETTER


def test_a_view_has_no_tile_behind_a_wall():
    world = flat()
    put(world, "diamond", (104, GROUND + 3))
    put(world, "diamond", (102, GROUND - 1))
    status = world.observe(own()).status
    assert "".join(status["map"]).count("d") == 1
    do(world, "beam_up")
    assert "d" not in "".join(world.observe(own()).status["map"])


@given(st.integers(0, 50), st.integers(0, 255), st.integers(30, 90))
@settings(max_examples=examples(30), deadline=None)
def test_changing_an_unseen_tile_changes_no_view(seed, x, y):
    world = planet(seed=seed % 3)
    land = world.game.land("verdant")
    body = body_of(world)
    before = world.observe(own())
    rows, (left, top) = before.status["map"], (body.x - 8, body.y - 4)
    column, row = (x - left) % 256, y - top
    if 0 <= row < len(rows) and column < len(rows[0]) and rows[row][column] != " ":
        return  # it is seen
    land.put(x, y, ID["diamond"] if land.at(x, y) != ID["diamond"] else ID["stone"])
    assert world.observe(own()).status["map"] == rows


def test_it_is_darker_at_night_and_a_torch_helps():
    def seen(step, *items):
        world = flat()
        world.game.step_number = step
        body_of(world).items = dict.fromkeys(items, 1)
        return sum(letter != " " for row in world.observe(own()).status["map"] for letter in row)

    assert seen(250) < seen(250, "torch") <= seen(10)


def test_a_scanner_widens_the_view():
    world = flat()
    body_of(world).scanner = 6
    assert len(world.observe(own()).status["map"][0]) == 29


def test_a_text_is_short_and_explains_only_the_letters_that_it_shows():
    world = planet()
    text = world.observe(own()).text
    assert len(text) < 700
    legend = next(line for line in text.split("\n") if line.startswith("Map: "))
    assert "lava" not in legend
    assert all(name in NAME_OF_LETTER.values() for name in [p.split()[1].strip(".") for p in legend[5:].split(", ")])


def test_changes_tell_what_happened_in_few_words():
    world = flat()
    put(world, "tree", (101, GROUND - 1), (101, GROUND - 2))
    before = world.observe(own())
    do(world, "use_tool", direction="right")
    words = world.changes(before, world.observe(own()))
    assert "carry 2 wood" in words
    assert "R1 air" in words
    assert len(words) < 300
    before = world.observe(own())
    do(world, "move", direction="right")
    words = world.changes(before, world.observe(own()))
    assert words.startswith("Step 2, you moved R1, facing right.")
    assert "New right |" in words


def test_what_a_player_was_told_of_a_step_is_not_told_again_before_the_next():
    world = flat()
    put(world, "tree", (101, GROUND - 1), (101, GROUND - 2))
    start = world.observe(own())
    do(world, "use_tool", direction="right")
    after = world.observe(own())
    assert "+2 wood" in world.changes(start, after)
    assert "+2 wood" not in world.changes(after, world.observe(own()))
    do(world, "wait")
    assert "+2 wood" not in world.changes(after, world.observe(own()))


def test_the_public_sees_scores_and_no_map():
    world = planet("ada", "bob")
    seen = world.observe(PUBLIC)
    assert seen.text == "Step 0.\nada: 0 quests, 0 achievements\nbob: 0 quests, 0 achievements"
    assert "position" not in str(seen.status)
    assert world.picture(PUBLIC) is None


def test_those_who_see_all_see_bodies_creatures_charts_and_planets():
    world = planet("ada", "bob")
    rows = world.observe(ALL).status["players"]
    assert rows[0]["position"] == [body_of(world).x, body_of(world).y]
    before = world.snapshot()
    assert len(world.chart(ALL, "cinder")) == 96
    assert world.snapshot() == before
    assert world.picture(ALL).startswith(b"\x89PNG")


def test_pictures_are_drawn_everywhere():
    world = planet("ada", "bob")
    body = body_of(world)
    for place in ("verdant", "dune", "frost", "mire", "cinder", "ship"):
        body.place = place
        if place != "ship":
            land = world.game.land(place)
            body.x, body.y = 128, land.top(128)
        for step in (10, 150, 270):
            world.game.step_number = step
            assert world.picture(own()).startswith(b"\x89PNG"), place


def test_the_same_view_gives_the_same_picture():
    assert planet().picture(own()) == planet().picture(own())


def test_the_dead_are_told_so():
    world = flat(respawn_after=0)
    body_of(world).y = 5
    while body_of(world).alive:
        do(world, "wait")
    assert "You are dead (fall)." in world.observe(own()).text
    assert [action.name for action in world.legal(Seat("1"))] == ["wait"]


def test_the_rules_explain_the_signs_of_the_view_and_what_a_failed_action_costs():
    rules = planet().describe()
    for words in ("@ you", ". air", "R4D1", '"here"', "x11", "An action that fails still takes a step."):
        assert words in rules
