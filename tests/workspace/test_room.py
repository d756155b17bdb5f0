"""The tools of a room, and the identity of its members."""

from hypothesis import given
from hypothesis import strategies as st

from cohabit.workspace.room import ROOM_NAMES, member_identity, room_tools
from cohabit.workspace.tools import tools

NAMES = st.text(st.characters(exclude_categories=("C", "Z")), min_size=1, max_size=64) | st.sampled_from(
    ["ann", "Ann", "ANN", "ann ", "a..b", "<ann>", "-", "你好", "ann-claude-code"]
).map(str.strip)


@given(NAMES, NAMES | NAMES.map(lambda name: member_identity(name, "den").agent_id))
def test_every_member_has_an_identity_and_no_two_have_the_same(one: str, other: str) -> None:
    assert (member_identity(one, "den").agent_id == member_identity(other, "den").agent_id) == (one == other)


def test_a_name_that_is_a_valid_id_is_the_agents_id() -> None:
    assert member_identity("ann-claude-code", "den").agent_id == "ann-claude-code"
    assert member_identity("Ann", "den").agent_id.startswith("ann-")


def test_a_name_that_looks_like_a_derived_id_is_not_used_unchanged() -> None:
    made = member_identity("Dora Q", "den").agent_id
    assert made == "dora-q-ec7f4a3c"
    namesake = member_identity(made, "den").agent_id
    assert namesake.startswith(f"{made}-")
    assert len({made, namesake, member_identity(namesake, "den").agent_id}) == 3


def test_every_tool_but_those_about_a_persons_workspaces_is_offered_once() -> None:
    there = [ROOM_NAMES.get(name, name) for name in tools()]
    assert len(there) == len(set(there))
    assert set(there) - set(room_tools()) == {"workspace_init", "workspace_list", "workspace_switch"}
