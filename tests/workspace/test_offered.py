"""Which tools a room offers, and as whom a member works."""

from hypothesis import given
from hypothesis import strategies as st

from cohabit.workspace.offered import ROOM_NAMES, identity_of, offered
from cohabit.workspace.tool import tools

NAMES = st.text(st.characters(exclude_categories=("C", "Z")), min_size=1, max_size=64) | st.sampled_from(
    ["ann", "Ann", "ANN", "ann ", "a..b", "<ann>", "-", "你好", "ann-claude-code"]
).map(str.strip)


@given(NAMES, NAMES | NAMES.map(lambda name: identity_of(name, "den").agent_id))
def test_every_member_has_an_identity_and_no_two_have_the_same(one: str, other: str) -> None:
    assert (identity_of(one, "den").agent_id == identity_of(other, "den").agent_id) == (one == other)


def test_a_name_that_is_a_slug_is_the_agents_id() -> None:
    assert identity_of("ann-claude-code", "den").agent_id == "ann-claude-code"
    assert identity_of("Ann", "den").agent_id.startswith("ann-")


def test_a_name_that_looks_like_an_id_which_was_made_up_for_another_is_not_taken_as_it_is() -> None:
    made = identity_of("Dora Q", "den").agent_id
    assert made == "dora-q-ec7f4a3c"
    namesake = identity_of(made, "den").agent_id
    assert namesake.startswith(f"{made}-")
    assert len({made, namesake, identity_of(namesake, "den").agent_id}) == 3


def test_every_tool_but_those_about_a_persons_workspaces_is_offered_once() -> None:
    there = [ROOM_NAMES.get(name, name) for name in tools()]
    assert len(there) == len(set(there))
    assert set(there) - set(offered()) == {"workspace_init", "workspace_list", "workspace_switch"}
