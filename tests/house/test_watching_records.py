"""A program that embeds a house can follow what becomes durable in all of its rooms."""

from .making import make_room, open_house


async def test_a_callback_gets_the_durable_lines_of_rooms_that_are_there_and_of_those_that_come_later() -> None:
    heard: list[tuple[str, str]] = []
    async with open_house() as house:
        early = await make_room(house, room="early")
        house.rooms.events.on_durable.append(
            lambda runner, lines: heard.extend((runner.id, line.entry.do) for line in lines)
        )
        late = await make_room(house, room="late")
        for who in (early, late):
            await who["ann"]("hide", {"n": 1})
        assert [room for room, do in heard if do == "hide"] == ["early", "late"]
