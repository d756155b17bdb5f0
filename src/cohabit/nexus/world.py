"""The Nexus as a room: where agents are between games, without a body.

Its remote side is the house itself: profiles in the store, and the rooms that are open to the Nexus. This part holds
what the record says of those who are present.
"""

from collections.abc import Mapping, Sequence
from typing import Annotated, Any

import msgspec
from msgspec import Meta

from cohabit.errors import GameRejected
from cohabit.features.bodies.avatars import Mode
from cohabit.features.visits.visits import Destination
from cohabit.model import plain, travel
from cohabit.model.action import Action
from cohabit.model.travel import Difficulty, NewAvatar, Spawn
from cohabit.nexus import goals, values
from cohabit.nexus.games import travel_named
from cohabit.nexus.packages import MemoryKind
from cohabit.nexus.scene import own_scene, public_scene
from cohabit.nexus.suggestions import suggestions
from cohabit.nexus.text import goal_of, nexus_text, onward_text, plain_name, profile_text
from cohabit.nexus.values import GameInfo, NexusView, Profile
from cohabit.remote import Ask, Plan, Polled, Sent, SeparateWorld
from cohabit.room.state import handle_of
from cohabit.world import Arrival, Eye, Observation, Outcome, Range, Seat, SeatId, Told, WorldSpec, action, query

MAX_PRESENT = 1_000
GameId = Annotated[str, Meta(max_length=64, description="the id of a game (see list_games)")]
GoalId = Annotated[str, Meta(max_length=200, description="the id of a goal")]
Memory = Annotated[str, Meta(min_length=1, max_length=300)]
Texts = (
    Annotated[str, Meta(max_length=500)] | Annotated[list[Annotated[str, Meta(max_length=300)]], Meta(max_length=20)]
)
"""A list of texts, or one text with commas."""
MODES = (
    "what happens to your body there: dormant (asleep in the world, can be hurt), suspend (out of the world until you "
    "return) or despawn (deleted)"
)
CHANGE_ONE_LINE = ("set_goal", "abandon_goal", "complete_goal", "remember", "forget")
"""Actions whose message says what has changed in the view."""
TO_LEARN = "The Nexus is looking up who you are. Look again in a moment."


class Present(msgspec.Struct, omit_defaults=True):
    """An agent with a seat in the Nexus."""

    name: str
    profile: Profile | None = None  # None: it has just come

    def is_older_than(self, profile: Profile) -> bool:
        """True if a profile is newer. A poll may be overtaken by the answer to an action."""
        return self.profile is None or self.profile.version < profile.version


class NexusState(msgspec.Struct, frozen=True, omit_defaults=True):
    """The result of a poll: the games, and profiles that differ from the record."""

    games: list[GameInfo]
    profiles: dict[SeatId, Profile] = {}


class Nexus(SeparateWorld):
    """The Nexus. You are between games, without a body. From here you travel to games, and return with what you have
    learned: skills, achievements, items and memories.

    `enter_game` takes you into a game, in a body of yours that sleeps there or in a new one. There you play as in any
    room; `exit_game` brings you back. What you really do in games raises your skills, and skills give you bonuses
    when you enter the next one. Meta-goals span several games (`set_goal`), and give you titles and more.
    """

    spec = WorldSpec(
        name="nexus", title="The Nexus", seats=(0, MAX_PRESENT), open_information=True, quick=True, examples=True,
        show_legal=False, front_end="front_end.html",
    )  # fmt: skip
    connector = "nexus"
    is_of_house = True
    refresh_for_members = True
    how_to_connect = "start it with `cohabit serve`"

    def reset(self, seed: int, seats: Sequence[Seat]) -> None:
        self.about: dict[str, str] = {}
        self.reachable = False
        self.games: list[GameInfo] = []
        self.present: dict[SeatId, Present] = {seat.id: Present(seat.name) for seat in seats}
        self.arrived = len(seats)
        self.tickets = 0
        self.sent: dict[str, Sent] = {}
        self.ticket_of: dict[str, int] = {}  # the numbers of their tickets, by member
        self.session_of: dict[str, str] = {}  # the tickets of the sessions that they were in when they asked

    # -- seats -------------------------------------------------------------------------------------
    def restore(self, data: bytes) -> None:
        """With the classes that profiles consist of, not only those that are named here."""
        state = plain.load(data, {**vars(travel), **vars(values), **globals()})
        self.__dict__.clear()
        self.__dict__.update(state)

    def seats_now(self) -> Sequence[Seat]:
        return [Seat(seat, known.name) for seat, known in self.present.items()]

    def arrive(self, arrival: Arrival) -> Seat:
        if len(self.present) >= MAX_PRESENT:
            raise GameRejected(f"the Nexus has {MAX_PRESENT} agents; try again when one has left")
        self.arrived += 1
        seat = str(self.arrived)
        self.present[seat] = Present(plain_name(arrival.name))
        return Seat(seat, self.present[seat].name)

    def depart(self, seat: Seat, mode: Any) -> None:
        self.present.pop(seat.id, None)

    def to_move(self) -> Sequence[SeatId]:
        return [seat for seat, known in self.present.items() if known.profile is None or known.profile.session is None]

    def is_over(self) -> bool:
        return False

    # -- pending actions ---------------------------------------------------------------------------
    def sending(self, sent: Sent) -> None:
        self.tickets += 1
        self.ticket_of[sent.by] = self.tickets
        known = self.present.get(sent.seat or "")
        if known is not None and known.profile is not None and known.profile.session is not None:
            self.session_of[sent.by] = known.profile.session.ticket
        super().sending(sent)

    def settled(self, by: str | None) -> Sent:
        self.ticket_of.pop(by or "", None)
        self.session_of.pop(by or "", None)
        return super().settled(by)

    def ticket_number(self, by: str) -> int:
        """The number of the ticket of a member's pending action."""
        return self.ticket_of[by]

    def recorded_answer(self, sent: Ask, answer: Mapping[str, Any]) -> dict[str, Any]:
        """Without the token for a game, which must not be in a record."""
        return {name: value for name, value in answer.items() if name != "token"}

    def shown_answer(self, sent: Ask, answer: Mapping[str, Any]) -> Any:
        """The part of an answer that a caller cannot read in its view: the session, and the token for the game."""
        data = answer.get("data")
        return {**data, "token": answer["token"]} if data and "token" in answer else data

    def answered(self, sent: Sent, answer: Mapping[str, Any]) -> Outcome:
        known = self.present.get(sent.seat or "")
        profile = msgspec.convert(answer["profile"], Profile)
        if known is not None and known.is_older_than(profile):
            known.profile = profile
        who = handle_of(sent.by)
        told = [Told(answer["text"], members=(sent.by,))]
        if answer.get("public"):
            told.append(Told(f"{who} {answer['public']}"))
        return Outcome(
            answer["text"], told=tuple(told), data=answer.get("data"), with_view=sent.action not in CHANGE_ONE_LINE
        )

    # -- what is known -----------------------------------------------------------------------------
    def poll(self) -> Plan:
        found = msgspec.convert((yield Ask("poll")), NexusState)
        news = {
            seat: profile
            for seat, profile in found.profiles.items()
            if seat in self.present and self.present[seat].is_older_than(profile)
        }
        if not news and found.games == self.games:
            return None
        return msgspec.to_builtins(NexusState(found.games, news))

    def polled(self, state: Mapping[str, Any]) -> Polled:
        found = msgspec.convert(state, NexusState)
        before = {game.id: game.status for game in self.games}
        changed = [game for game in found.games if game.status != before.get(game.id)]
        told = [Told(f"the game {game.id} ({game.name}) is {game.status}") for game in changed]
        told += [Told(f"the game {game} is gone") for game in before if game not in {one.id for one in found.games}]
        self.games = found.games
        for seat, profile in found.profiles.items():
            known = self.present.get(seat)
            if known is None or not known.is_older_than(profile):
                continue
            told += _moved(seat, known, profile)
            known.profile = profile
        return Polled(told)

    # -- views -------------------------------------------------------------------------------------
    def observe(self, eye: Eye) -> Observation:
        known = self.present.get(eye.seat or "")
        if known is None or eye.sees == "public":
            lines = [profile_text(one.profile) for one in self.present.values() if one.profile is not None]
            listed = [f"{game.id}: {game.name}, {game.status}" for game in self.games]
            text = "\n".join(["Agents in the Nexus:", *(lines or ["none"]), "Games:", *(listed or ["none"])])
            return Observation(text=text, text_says_all=True, status={"games": msgspec.to_builtins(self.games)})
        if known.profile is None:
            return Observation(text=TO_LEARN)
        view = NexusView(known.profile, tuple(self.games), suggestions(known.profile, self.games))
        travels = {game.kind: travel_named(game.kind) for game in self.games}
        return Observation(
            text=nexus_text(view, travels),
            text_says_all=True,
            status={
                "in_game": known.profile.session.game if known.profile.session is not None else None,
                "onward": msgspec.to_builtins(known.profile.onward),
                "bodies": msgspec.to_builtins(known.profile.bodies),
                "skills": dict(known.profile.skills),
                "games": [{"id": game.id, "status": game.status} for game in self.games],
            },
            inventory={item.origin: item.count for item in known.profile.carried},
            current_goals=[goal_of(one) for one in goals.active(known.profile)],
        )

    def scene(self, eye: Eye) -> dict[str, Any]:
        """The games and the agents; to an agent what it is, has and pursues."""
        shown = public_scene(self.games, [one.profile for one in self.present.values()])
        known = self.present.get(eye.seat or "")
        if known is None or known.profile is None or eye.sees == "public":
            return shown
        return {
            **shown,
            **own_scene(NexusView(known.profile, tuple(self.games), suggestions(known.profile, self.games))),
        }

    def legal(self, seat: Seat) -> Sequence[Action]:
        """The games that can be entered, the best suggestion first."""
        known = self.present.get(seat.id)
        if known is None or known.profile is None or known.profile.session is not None:
            return ()
        best = [one.game_id for one in suggestions(known.profile, self.games)]
        rest = [game.id for game in self.games if game.status == "available" and game.has_room and game.id not in best]
        return [Action("enter_game", {"game_id": game}) for game in (*best, *rest)]

    # -- actions -----------------------------------------------------------------------------------
    @action(group="transit", preconditions=["You are in no game"])
    def enter_game(
        self,
        by: Seat,
        game_id: GameId,
        spawn_preference: Spawn = "safe",
        difficulty: Difficulty = "normal",
        goals: Annotated[Texts | None, Meta(description="what you want to do there: a list, or with commas")] = None,
        avatar_id: Annotated[
            Annotated[str, Meta(max_length=40)] | None, Meta(description="one of your avatars there")
        ] = None,
        items: Annotated[
            dict[str, Annotated[int, Meta(ge=0, le=10_000)]] | None,
            Meta(
                description="what to take along, by origin, such as {'crafter_shared:iron': 2}; default: all that fit"
            ),
        ] = None,
        max_steps: Annotated[
            Annotated[int, Meta(ge=1, le=1_000_000_000)] | None,
            Meta(description="your visit ends after this many steps"),
        ] = None,
        exit_conditions: Annotated[
            Texts | None,
            Meta(
                description="your visit ends by itself when one holds: `health < 10%`, `steps >= 200`, `playtime >= "
                "10 min`, `died`, `goal_complete`. Others are notes for you. A list, or with commas"
            ),
        ] = None,
        avatar_spec: Annotated[
            NewAvatar | None, Meta(description="a new avatar, although one of yours may wait there")
        ] = None,
    ) -> None:
        """Travel to a game. You get a body there: the one that you left, or a new one."""

    @action(group="transit", preconditions=["You are in a game", "Your body there is safe"])
    def leave_game(
        self,
        by: Seat,
        session_id: Annotated[str, Meta(max_length=100, description="the session to end; default: yours")] = "",
        reason: Annotated[str, Meta(max_length=100)] = "voluntary",
        destination: Destination = "nexus",
        mode: Annotated[Mode, Meta(description=MODES)] = "dormant",
        carry: Annotated[
            dict[str, Annotated[int, Meta(ge=1, le=1000)]] | None,
            Meta(description="portable items to take along, such as {'iron': 2}; the rest stays with your body"),
        ] = None,
        remember: Annotated[
            Annotated[list[Memory], Meta(max_length=5)] | None, Meta(description="what you want to remember")
        ] = None,
    ) -> None:
        """Return from the game that you are in. The same as exit_game there, for those who only call the Nexus."""

    @action(group="transit", preconditions=["You are in a game"])
    def resume_game(self, by: Seat) -> None:
        """Tell how to continue in the game that you are in. Has a token if you have none (a reply may be lost)."""

    @action(group="transit")
    def give_up_game(self, by: Seat) -> None:
        """Return from a game that is offline. You bring nothing back. From a game that runs, return with exit_game."""

    @action(group="meta")
    def set_goal(
        self, by: Seat, goal: Annotated[str, Meta(max_length=200, description="a meta-goal, or one in your own words")]
    ) -> None:
        """Pursue a meta-goal (see meta_goals), or a goal in your own words."""

    @action(group="meta")
    def abandon_goal(self, by: Seat, goal: GoalId) -> None:
        """No longer pursue a goal."""

    @action(group="meta")
    def complete_goal(self, by: Seat, goal: GoalId) -> None:
        """Say that you have reached a goal in your own words. Meta-goals are evaluated by what you have really done."""

    @action(group="meta")
    def remember(self, by: Seat, text: Memory, kind: MemoryKind = "memory") -> None:
        """Keep a memory or a strategy. You have it in every game."""

    @action(group="meta")
    def forget(self, by: Seat, text: Memory, kind: MemoryKind = "memory") -> None:
        """Drop a memory or a strategy."""

    # -- queries -----------------------------------------------------------------------------------
    @query(category="discovery")
    def list_games(self, eye: Eye) -> Plan:
        """The games that you can travel to, with status, capacity and what they teach."""
        return (yield Ask("list_games"))

    @query(category="discovery")
    def game_details(
        self, eye: Eye, game_id: GameId, rules: Annotated[bool, Meta(description="with all its rules")] = False
    ) -> Plan:
        """A game: what it is about, its lessons, bonuses and portable items."""
        return (yield Ask("game_details", {"game_id": game_id, "rules": rules}))

    @query(needs="read_own")
    def review_self(self, eye: Eye) -> Plan:
        """Show what the Nexus knows about you."""
        return (yield Ask("review_self"))

    @query(needs="read_own")
    def review_achievements(
        self,
        eye: Eye,
        filter: Annotated[str, Meta(max_length=64, description="a game, a rarity, or recent; default: all")] = "",  # noqa: A002 - the wire's name
    ) -> Plan:
        """Your achievements in all games."""
        return (yield Ask("review_achievements", {"filter": filter}))

    @query(category="discovery")
    def meta_goals(self, eye: Eye) -> Plan:
        """The meta-goals, what they ask for, what they give, and how far you are."""
        return (yield Ask("meta_goals"))

    @query(category="discovery")
    def wait_for_game(self, eye: Eye, game_id: GameId, timeout: Annotated[int, Range(0, 30, "seconds")] = 20) -> Plan:
        """Wait until a game is available."""
        return (yield Ask("wait_for_game", {"game_id": game_id, "timeout": timeout}))


def _moved(seat: SeatId, known: Present, profile: Profile) -> list[Told]:
    """The news of an agent that has returned, or has moved to another game."""
    before, now = known.profile or profile, profile.session
    was, told = before.session, []
    if was is not None and now is None:
        told.append(Told(f"{known.name} returns from {was.game}"))
    elif was is not None and now is not None and was.ticket != now.ticket:
        told.append(Told(f"{known.name} goes on from {was.game} to {now.game}"))
        told.append(Told(onward_text(profile).strip(), seats=(seat,)))
    if profile.onward is not None and profile.onward.refused and profile.onward != before.onward:
        told.append(Told(onward_text(profile).strip(), seats=(seat,)))
    return told
