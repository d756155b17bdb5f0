"""The life of one agent: it plays Crafter, leaves its body asleep, travels through the Nexus with what it has learned,
plays on a planet with the bonuses that it earned, dies, comes back to life, completes a meta-goal, and returns to its
sleeping body. Its story becomes one page with pictures.

Run it with `python examples/odyssey.py`, or with any brain: `python examples/odyssey.py --brain ollama:qwen3:8b`.
"""

import argparse
import asyncio
import html
from base64 import b64decode
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any, NamedTuple

from cohabit import House, connect
from cohabit.agents.contract import Agent, adapted
from cohabit.agents.isolated import open_agent
from cohabit.agents.player import Player
from cohabit.agents.runner import ClientCalls, PlayLoop
from cohabit.client import Client
from cohabit.errors import CohabitError, GameRejected
from cohabit.house.running.calls import PeekCall
from cohabit.model.action import Action
from cohabit.model.observation import Observation
from cohabit.registry import make_world
from cohabit.room.record import GENESIS, read_lines
from cohabit.room.room import Room
from cohabit.scenario import AgentSpec, Scenario

NEXUS, CAMP, PLANET = "nexus", "camp", "planet"
SEED = int("5e7a0d15c0ffee0fa11afa7e5eed0007", 16)
"""The same story each time. A house warns of smaller seeds, because players can guess them."""
MOST_STEPS = 3_000
"""So long the reckless look for their death."""


class Chapter(NamedTuple):
    title: str
    text: str
    picture: bytes | None = None


class Enough(Exception):
    """The agent has played as long as this chapter lasts."""


class Reckless:
    """A mind that runs on, day and night, and never eats. It does not live long."""

    def decide(self, observation: Observation) -> Action:
        blocked = "blocked" in " ".join(event.description for event in observation.recent_events)
        return Action("jump" if blocked or observation.step % 7 == 0 else "move_right")


class Traveller:
    """One identity on its way, and the story that it leaves."""

    def __init__(self, client: Client, brain: str | None) -> None:
        self.client, self.brain = client, brain
        self.story: list[Chapter] = []

    async def call(self, room: str, command: str, args: Mapping[str, Any] | None = None) -> Any:
        return await self.client.call(command, args, room=room)

    async def tell(self, title: str, text: str, room: str | None = None) -> None:
        """Add a chapter, with a picture of what the agent sees."""
        picture = None
        if room is not None:
            picture = b64decode((await self.call(room, "picture"))["base64"])
        self.story.append(Chapter(title, text, picture))
        print(f"* {title}: {text.splitlines()[0]}")

    async def play(self, room: str, mind: Agent, decisions: int) -> None:
        """Let a mind play through the body of the agent, until it has decided so often, or the body is dead."""
        left = decisions

        async def count() -> None:
            nonlocal left
            if left == 0:
                raise Enough
            left -= 1

        player = Player(mind)
        plays = asyncio.ensure_future(PlayLoop(ClientCalls(self.client, room), player, pause=count).play())
        dies = asyncio.ensure_future(self.death_in(room))
        done, other = await asyncio.wait({plays, dies}, return_when=asyncio.FIRST_COMPLETED)
        for task in other:
            task.cancel()
        await asyncio.gather(*other, return_exceptions=True)
        await player.close()
        for task in done:
            with suppress(Enough):
                task.result()

    async def death_in(self, room: str) -> None:
        """Wait until the agent has no living body in a room."""
        calls = ClientCalls(self.client, room)
        while (await self.call(room, "avatars")).get("active_avatar_id") is not None:
            await calls.changed(20_000)

    def mind(self, scripted: str, purpose: str) -> Agent:
        """The chosen brain, or the script for this world."""
        return open_agent(self.brain or scripted, purpose)

    async def inventory(self, room: str) -> dict[str, int]:
        """What the body in this room has."""
        found: dict[str, int] = (await self.call(room, "avatars"))["avatars"][0].get("inventory", {})
        return found

    async def profile(self) -> dict[str, Any]:
        found: dict[str, Any] = await self.call(NEXUS, "review_self")
        return found

    async def leave(self, room: str, **args: Any) -> dict[str, Any]:
        """Return to the Nexus. A body must be safe to be left, so it may have to move on first."""
        for _ in range(200):
            try:
                left: dict[str, Any] = await self.call(room, "exit_game", args)
                return left
            except GameRejected:
                await self.play(room, open_agent("random", "escape"), 1)
        raise RuntimeError(f"{room} was never safe enough to leave")


async def odyssey(house: House, client: Client, brain: str | None) -> list[Chapter]:
    """The whole journey. Returns its chapters."""
    me = Traveller(client, brain)
    await me.call(NEXUS, "sit")
    await me.call(NEXUS, "set_goal", {"goal": "wayfarer"})
    await me.tell("In the Nexus", (await me.call(NEXUS, "view"))["text"])

    await me.call(NEXUS, "enter_game", {"game_id": CAMP, "goals": "learn to survive"})
    await me.tell("A body in the wild", "The agent opens its eyes.", CAMP)
    await me.play(CAMP, me.mind("crafter-expert", "camp"), 250)
    carried = await me.inventory(CAMP)
    carry = {item: 1 for item in ("wood", "stone", "iron") if carried.get(item)}
    await me.tell("What it has made of it", f"It carries {_words(carried)}.", CAMP)
    await me.leave(CAMP, mode="dormant", carry=carry or None, remember=["My body sleeps in the camp."])
    skills = (await me.profile())["skills"]
    await me.tell("Between the worlds", f"It has learned: {_skills(skills)}. It carries {_words(carry)}.")

    entered = (await me.call(NEXUS, "enter_game", {"game_id": PLANET}))["data"]
    await me.tell("A new world", f"Bonuses: {_words(entered['bonuses_applied'])}. {_words(entered['items'])}.", PLANET)
    await me.play(PLANET, me.mind("pioneer", "planet"), 120)
    await me.tell("A pioneer", f"It carries {_words(await me.inventory(PLANET))}.", PLANET)
    await me.play(PLANET, me.mind("random", "planet") if brain else adapted(Reckless()), MOST_STEPS)
    try:
        death = await me.call(PLANET, "death")
        await me.tell("Death", f"It died: {death['cause']}. It lost {_words(death.get('items_dropped', {}))}.", PLANET)
        await me.call(PLANET, "respawn")
        await me.tell("Another life", "It opens its eyes again.", PLANET)
    except GameRejected:
        await me.tell("No death", "This mind was too careful to die.", PLANET)
    await me.leave(PLANET, mode="suspend")

    profile = await me.profile()
    reached = [goal["goal"] for goal in profile["goals"] if goal.get("completed_at")]
    titles = ", ".join(profile.get("titles", [])) or "none"
    await me.tell("Back in the Nexus", f"Meta-goals: {', '.join(reached) or 'none'}. Titles: {titles}.")

    woken = (await me.call(NEXUS, "enter_game", {"game_id": CAMP}))["data"]
    await me.tell(
        "The sleeper awakes", "Its first body has waited." if woken["woken"] else "Its first body is gone.", CAMP
    )
    return me.story


def _words(counts: Mapping[str, float]) -> str:
    return ", ".join(f"{count:g} {name.replace('_', ' ')}" for name, count in counts.items()) or "nothing"


def _skills(skills: Mapping[str, float]) -> str:
    return ", ".join(f"{name.replace('_', ' ')} {level:.2f}" for name, level in skills.items() if level) or "nothing"


def page(story: list[Chapter], pictures: Path) -> str:
    """The story as HTML. The pictures are files beside it."""
    parts = []
    for number, chapter in enumerate(story, 1):
        image = ""
        if chapter.picture is not None:
            name = f"{number:02}.png"
            (pictures / name).write_bytes(chapter.picture)
            image = f'<img src="{name}" alt="{html.escape(chapter.title)}">'
        parts.append(
            f"<section><h2>{html.escape(chapter.title)}</h2>{image}<p>{html.escape(chapter.text)}</p></section>"
        )
    style = (
        "body{font:16px/1.5 system-ui,sans-serif;max-width:46rem;margin:2rem auto;padding:0 1rem;background:#14161c;"
        "color:#e8e8ec}h1,h2{font-weight:600}img{width:100%;image-rendering:pixelated;border-radius:8px}"
        "p{white-space:pre-wrap}"
    )
    return (
        '<!doctype html><html lang="en"><meta charset="utf-8"><title>Odyssey</title>'
        f"<style>{style}</style><h1>Odyssey</h1>{''.join(parts)}</html>"
    )


def room_of(world: str, role: str, **config: Any) -> Scenario:
    who = "traveller" if world == "nexus" else "host"
    return Scenario(scenario=world, world=world, config=config, agents=[AgentSpec(id=who, role=role)])


async def replays(house: House, room: str) -> bool:
    """Whether the record of a room, run again, gives the same room."""
    # The room goes on meanwhile, on a thread of its own: its state is read in its queue, between two entries.
    live = PeekCall(lambda room: (room.record.seq, room.digest()))
    seq, digest = await house.rooms[room].submit(live)
    lines = read_lines(list(house.store.lines(room, -1)), -1, GENESIS)
    return bool(Room.replay([line for line in lines if line.seq <= seq], make_world).digest() == digest)


async def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--brain", help="what the agent thinks with (default: a script for each world)")
    parser.add_argument("--out", type=Path, default=Path("odyssey"), help="folder for the story (default: odyssey)")
    args = parser.parse_args()
    args.out.mkdir(parents=True, exist_ok=True)
    async with House.open() as house:
        for room, world, config in (
            (CAMP, "crafter_shared", {"respawns": True}),
            (PLANET, "planet", {"respawn_after": 0}),
        ):
            _, tokens = await house.create_room(room_of(world, "host", **config), room, seed=SEED)
            async with connect(house, tokens["host"]) as host:
                await host.call("open_to_nexus")
        _, tokens = await house.create_room(room_of("nexus", "player"), NEXUS, seed=SEED)
        identity = house.identities.get(house.identify(tokens["traveller"]).identity)
        assert identity is not None
        everywhere = house.identities.temporary(identity, None, house.clock.now())  # valid in every room
        async with connect(house, everywhere) as client:
            try:
                story = await odyssey(house, client, args.brain)
            except CohabitError as refused:
                raise SystemExit(refused.as_text()) from refused
        (args.out / "index.html").write_text(page(story, args.out), encoding="utf-8")
        same = all([await replays(house, room) for room in (NEXUS, CAMP, PLANET)])
        print(f"The story: {args.out / 'index.html'}")
        print(f"ok: {len(story)} chapters; the records of three rooms, run again, give the same rooms: {same}")


if __name__ == "__main__":
    asyncio.run(main())
