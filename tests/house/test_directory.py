"""Which node has which room, in the tables of a house."""

import pytest

from cohabit.errors import Busy
from cohabit.house.directory import FRONT, HOUSE_RECORD, Table, name_elsewhere, place_of


def test_the_name_of_a_node_elsewhere_says_its_place_and_that_of_an_own_one_none() -> None:
    assert place_of(name_elsewhere("attic", "w1")) == "attic"
    assert place_of("w1") == place_of(FRONT) == ""


def test_a_new_room_goes_where_the_fewest_are_in_any_house_but_not_into_one_that_is_being_stopped() -> None:
    table = Table(FRONT)
    with pytest.raises(Busy):
        table.place()
    table.update(
        {"a": "w1"}, {FRONT: "/front", "w1": "/w1", "attic/w1": "tcp://h:1/attic/w1", "attic/front": "tcp://h"}
    )
    assert table.place() == "attic/w1"
    table.update(leaving={"attic/w1": True})
    assert table.place() == "w1"
    table.update(leaving={"attic/w1": None})
    assert table.place() == "attic/w1"


def test_whoever_keeps_connections_is_told_of_each_address_that_no_node_has_any_more() -> None:
    table, gone = Table(FRONT), list[str]()
    table.on_gone = gone.append
    table.update({}, {"w1": "/w1", "w2": "/w2", "w3": "/w3"})
    table.update({"a": "w1"}, {"w1": "/w1"})
    assert not gone
    table.update({"a": None}, {"w1": None, "w2": "/again"})
    assert sorted(gone) == ["/w1", "/w2"]
    assert table.socket_of("w1") == "/gone"
    assert table.rooms == {HOUSE_RECORD: FRONT}
