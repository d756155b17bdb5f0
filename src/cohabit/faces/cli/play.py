"""``cohabit play``: a person plays in the terminal, with the same calls as every client."""

import argparse
import asyncio
import inspect
from collections.abc import AsyncIterator
from typing import Any

import msgspec

from cohabit.client import Client
from cohabit.errors import CohabitError, PermissionDenied
from cohabit.faces.cli import say
from cohabit.faces.cli.options import Place, arguments, place_of, place_options
from cohabit.faces.cli.typing_line import typing
from cohabit.faces.cli.watch import enter_room
from cohabit.faces.python import connect
from cohabit.model.answers import parse_action
from cohabit.model.grant import role_shown
from cohabit.registry import load_protocol_names
from cohabit.room.seeing.view import EXAMPLES, LEGAL, turn_text

HELP = """\
  3                      the action with that number
  take n=2               an action with its parameters (or as JSON: take {"n": 2})
  /say TEXT              to all members      /tell NAME TEXT    to one member, or team:NAME
  /call COMMAND n=2      any other command   /view  /rules  /help  /quit"""

MAX_DIGITS = 9
FOR_AGENTS = (f"{LEGAL}: ", f"{EXAMPLES}: ", "This is view ")


def play_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("room", nargs="?", metavar="ROOM", help="the room, or a link from `cohabit up`")
    place_options(parser, room=False)


def play(args: argparse.Namespace) -> int:
    """Play in a room in this terminal: see the world, choose an action by number or type it, send messages.

    Examples:
      cohabit play 'http://127.0.0.1:8724/?room=demo#TOKEN'
      COHABIT_TOKEN=… cohabit play demo

    In the room, type:
    """
    try:
        asyncio.run(_play(place_of(args)))
    except KeyboardInterrupt:
        say.tell()
    return 0


play.__doc__ = f"{inspect.getdoc(play)}\n{HELP}"


async def _play(place: Place) -> None:
    place, who = await enter_room(place)
    async with connect(place.url, place.token, place.room) as me:
        load_protocol_names()  # their names of roles
        role = role_shown(str(who["role"]))
        seat = f"seat {who['seat']}" if who.get("seat") else "without a seat"
        world = "" if who["room"] == who["world"] else f" ({who['world']})"
        say.tell(f"You are {say.clean(who['handle'])} ({role}), {seat}, in the room {who['room']}{world}.")
        rules = await me.call("rules")
        say.tell(say.clean(rules["description"], lines=True))
        say.tell(say.clean(rules["actions"], lines=True))
        say.tell("Type /help for help.")
        with typing() as lines:
            table = Table(me, str(who["handle"]))
            start = await table.begin()
            ends = [asyncio.ensure_future(table.follow(start)), asyncio.ensure_future(table.obey(lines))]
            try:
                done, _ = await asyncio.wait(ends, return_when=asyncio.FIRST_COMPLETED)
            finally:  # at Ctrl-C too, while the connection is open
                for task in ends:
                    task.cancel()
                await asyncio.gather(*ends, return_exceptions=True)
        for task in done:
            task.result()


class Table:
    """The view of the player, and the choices behind the numbers."""

    def __init__(self, me: Client, handle: str) -> None:
        self._me = me
        self._handle = handle
        self._acted: list[str] = []  # own actions whose event has not arrived yet
        self._views = say.ViewPace()
        self._choices: list[dict[str, Any]] = []
        self._shown: tuple[Any, ...] = ()  # what the last view was about

    def see(self, view: dict[str, Any]) -> None:
        self._choices = view["observation"].get("choices", [])
        about = (view["observation"], view.get("to_move"), view.get("over"), view.get("paused"))
        if about == self._shown:  # a reply and a push of the same view differ in what they add to it
            return
        self._shown = about
        self._views.due(view)
        say.tell(say.view_text(_for_a_person(view["text"]) if self._choices else view["text"]))
        self._list_choices()

    async def begin(self) -> str:
        """Show the first view. Returns the cursor to follow from: it is older than the view, so that nothing that
        happens before the subscription starts is lost."""
        newest = await self._me.call("events", {"last": 1})
        self.see(await self._me.call("view"))
        brain = (await self._me.call("whoami")).get("played_by")
        if brain is not None:
            say.tell(f"An agent ({say.clean(brain)}) plays your seat. To play it yourself, type /call take_over")
        return str(newest["cursor"])

    def _list_choices(self) -> None:
        for number, choice in enumerate(self._choices, 1):
            params = msgspec.json.encode(choice["params"]).decode()
            say.tell(f"  {say.paint('green', str(number))}  {say.clean(choice['action'])} {say.clean(params)}")

    async def follow(self, cursor: str) -> None:
        """Show what happens after the cursor until the house disconnects."""
        async for push in self._me.subscribe(cursor):
            if push["push"] == "view" and self._views.due(push["view"]):
                self.see(push["view"])
            for item in push.get("items", ()):
                if not self._is_own(item):
                    say.tell(say.feed_event(item))

    def _is_own(self, item: dict[str, Any]) -> bool:
        """True if this is the event of an action that was typed here. Its reply says the same."""
        if item.get("by") != self._handle or item["do"] not in self._acted:
            return False
        self._acted.remove(item["do"])
        return True

    async def obey(self, lines: AsyncIterator[str]) -> None:
        """Do what is typed until the input ends."""
        async for line in lines:
            try:
                if not await self._do(line.strip()):
                    return
            except CohabitError as refusal:
                say.complain(say.in_one_line(refusal))
                self._list_choices()
            except say.UsageError as wrong:
                say.complain(say.sentence(str(wrong)))

    async def _do(self, line: str) -> bool:
        word, _, rest = line.partition(" ")
        match word:
            case "/quit" | "/q":
                return False
            case "" | "/view":
                self._shown = ()
                self.see(await self._me.call("view"))
            case "/help":
                say.tell(HELP)
            case "/rules":
                say.tell(say.clean((await self._me.call("rules"))["actions"], lines=True))
            case "/say":
                await self._say(rest)
            case "/tell":
                to, _, text = rest.partition(" ")
                await self._me.call("send_message", {"to": to, "content": text})
            case "/call":
                if not rest.strip():
                    raise say.UsageError("name the command, as in /call whoami")
                name, *words = rest.split()
                answer = await self._me.call(name, arguments(words))
                say.tell(msgspec.json.format(msgspec.json.encode(answer), indent=2).decode())
            case _ if word.startswith("/"):
                raise say.UsageError(f"unknown input {word}; /help lists what you can type")
            case _:
                await self._act(word, rest)
        return True

    async def _say(self, text: str) -> None:
        """Tell everybody; one by one, if the member may not broadcast."""
        try:
            await self._me.call("send_message", {"to": "*", "content": text})
        except PermissionDenied:
            me = (await self._me.call("whoami"))["handle"]
            others = [m["handle"] for m in (await self._me.call("roster"))["members"] if m["handle"] != me]
            self._acted += ["send_message"] * len(others)  # one line says it, not one for each
            try:
                for other in others:
                    await self._me.call("send_message", {"to": other, "content": text})
            except CohabitError:
                self._acted = [action for action in self._acted if action != "send_message"]
                raise
            say.tell(f"Sent to {', '.join(map(say.clean, others))}.")

    async def _act(self, word: str, rest: str) -> None:
        if word.isdecimal():
            number = int(word) if len(word) <= MAX_DIGITS else 0
            if not 1 <= number <= len(self._choices):
                raise say.UsageError(
                    f"choose 1 to {len(self._choices)}" if self._choices else "there are no numbered actions right now"
                )
            chosen = self._choices[number - 1]
        elif word.startswith("{"):  # an answer as an agent gives it
            try:
                typed = parse_action(f"{word} {rest}")
            except ValueError as wrong:
                raise say.UsageError(str(wrong)) from None
            chosen = {"action": typed.name, "params": typed.parameters, "reasoning": typed.reasoning}
        else:
            chosen = {"action": word, "params": arguments([rest] if rest.startswith("{") else rest.split())}
        self._acted.append(chosen["action"])  # before the call, because the event may arrive before the reply
        result: dict[str, Any] = {}
        try:
            result = await self._me.call("act", chosen)
        finally:
            if "message" not in result and chosen["action"] in self._acted:  # no reply says what the event says
                self._acted.remove(chosen["action"])
        say.tell(say.paint("green", say.clean(result.get("message", "Done."))))
        if result.get("to_move") and not result.get("done"):
            say.tell(say.clean(turn_text(result["to_move"], over=False)))
        if not self._views.show_all:  # a world with a clock: show the effect now
            self.see(await self._me.call("view"))


def _for_a_person(text: str) -> str:
    """A view without the lines that a person does not need: legal actions are listed with numbers below it."""
    return "\n".join(line for line in text.split("\n") if not line.startswith(FOR_AGENTS))
