"""Steps of tic-tac-toe: in a complete room, and in the bare loops of two peers."""

import random
import time
from functools import partial
from typing import Any

from bench.common import child, quotients, take_turns
from bench.report import Report

HOW = """
Random tic-tac-toe in process, steps per CPU second. In our step the token is authenticated, the call is decided,
validated, run and recorded (including the hash chain), and the next mover's observation is read as text: one
observation per step, as in the peers' loops. By default a reply carries the mover's new observation as well; that is
measured separately. Every game ends with a rematch on the same path; every 1,000 entries a snapshot is taken, as in a
house. The peers' loops read the mover's observation, choose a legal move and step; their resets are included. Legal
moves are read from the board in our loop and in TextArena's, from the view where we read the whole view, and from the
mask in PettingZoo's.
(TextArena's default wrapper keeps the messages of all games; it is cleared between games, in its favour.)
Two hashes, of the token and of the record, are a sixth of our step on processors without SHA instructions. Where there
are some, the ratio to TextArena was 1.45.
""".strip()


class Cohabit:
    """Everything a room does for a step, except the disk.

    ``whole``: read the whole view with choices. ``look``: the reply carries an observation too.
    """

    def __init__(self, whole: bool = False, look: bool = False) -> None:
        from cohabit.house.store.identities import Identities, hashed, make_token
        from cohabit.model.identity import Credential
        from cohabit.registry import make_world
        from cohabit.room.opening import opening_state
        from cohabit.room.room import Room
        from cohabit.scenario import AgentSpec, Scenario
        from cohabit.worlds.tictactoe import TicTacToe

        plan = Scenario(
            world="tictactoe",
            agents=[
                AgentSpec(id="ada", role="player", claim="auto:0"),
                AgentSpec(id="bob", role="player", claim="auto:1"),
                AgentSpec(id="host", role="host"),
            ],
        )
        self.at = 1_000_000
        world = make_world("tictactoe", {})
        assert isinstance(world, TicTacToe)
        self.world = world
        self.room = Room.create(opening_state(plan, world, "tictactoe", "bench", 1, "00" * 16), world, self.at)
        self.identities = Identities()
        self.tokens = [make_token() for _ in plan.agents]
        for agent, token in zip(plan.agents, self.tokens, strict=True):
            self.identities.put_credential(Credential(hashed(token), agent.id, "bench"))
        self.whole = whole
        self.look = look
        self.choose = random.Random(1).choice

    def round(self, seconds: float) -> float:
        steps, ends = 0, time.process_time() + seconds
        began = time.process_time()
        while time.process_time() < ends:
            steps += self.game()
        return steps / (time.process_time() - began)

    def game(self) -> int:
        room, identify, choose, tokens = self.room, self.identities.identify, self.choose, self.tokens
        world, members, whole, look = self.world, room.state.members, self.whole, self.look
        at, steps, over = self.at, 0, False
        while not over:
            at += 1
            who = identify(tokens[steps % 2], at).identity
            member = members[who]
            if whole:
                view = room.view(member)
                text, args = view.text, choose(view.observation.choices)["params"]
            else:
                looks = room.eye(member)
                assert looks is not None
                text = room.observe(looks).to_text()
                args = {"cell": choose([i for i, mark in enumerate(world.board) if mark.isdigit()])}
            assert text
            over = room.call(who, "mark", args, at=at, look=look).done
            steps += 1
        room.call(identify(tokens[2], at).identity, "rematch", at=at)
        self.at = at
        room.record.take_pending()
        if len(room.record.tail) >= 1000:
            room.stored(room.snapshot())
        return steps

    def profile(self, seconds: float) -> str:
        import cProfile
        import io
        import pstats

        with cProfile.Profile() as profile:
            self.round(seconds)
        text = io.StringIO()
        pstats.Stats(profile, stream=text).sort_stats("tottime").print_stats(25)
        return text.getvalue()


class TextArena:
    def __init__(self, name: str) -> None:
        import textarena  # type: ignore[import-untyped]

        self.env = textarena.make(name)
        self.choose = random.Random(1).choice
        # The default wrapper keeps the messages of all games and is not cleared by reset, so each game would be
        # slower than the last. We clear it, in favour of the peer.
        self.histories: list[dict[int, Any]] = []
        layer = self.env
        while isinstance(layer, textarena.core.Wrapper):
            self.histories += [v for k, v in vars(layer).items() if k == "full_observations"]
            layer = layer.env

    def round(self, seconds: float) -> float:
        env, choose = self.env, self.choose
        steps, began = 0, time.process_time()
        ends = began + seconds
        while time.process_time() < ends:
            env.reset(num_players=2, seed=steps)
            for history in self.histories:
                history.clear()
            done = False
            while not done:
                _, seen = env.get_observation()
                assert seen
                board = env.state.game_state["board"]
                free = [r * 3 + c for r, row in enumerate(board) for c, mark in enumerate(row) if not mark]
                done, _ = env.step(f"[{choose(free)}]")
                steps += 1
            env.close()
        return steps / (time.process_time() - began)


class PettingZoo:
    def __init__(self) -> None:
        from pettingzoo.classic import tictactoe_v3  # type: ignore[import-untyped]

        self.env = tictactoe_v3.env()
        self.choose = random.Random(1).choice

    def round(self, seconds: float) -> float:
        env, choose = self.env, self.choose
        steps, began = 0, time.process_time()
        ends = began + seconds
        while time.process_time() < ends:
            env.reset(seed=steps)
            for _ in env.agent_iter():
                seen, _, ended, cut, _ = env.last()
                if ended or cut:
                    env.step(None)
                    continue
                env.step(choose([i for i, free in enumerate(seen["action_mask"]) if free]))
                steps += 1
        return steps / (time.process_time() - began)


def run(quick: bool) -> Report:
    seconds, times = (0.2, 2) if quick else (1.0, 9)
    with (
        child("bench.step:Cohabit", 0) as ours,
        child("bench.step:Cohabit", 0, whole=True) as whole,
        child("bench.step:Cohabit", 0, look=True) as looking,
        child("bench.step:TextArena", 0, name="TicTacToe-v0") as arena,
        child("bench.step:TextArena", 0, name="TicTacToe-v0-raw") as raw,
        child("bench.step:PettingZoo", 0) as zoo,
    ):
        named = {
            "a room of ours": ours,
            "a room of ours, whole view with choices": whole,
            "a room of ours, observation in the reply too": looking,
            "TextArena TicTacToe-v0": arena,
            "TextArena TicTacToe-v0-raw": raw,
            "PettingZoo tictactoe_v3": zoo,
        }
        found = take_turns({n: partial(c.ask, "round", seconds=seconds) for n, c in named.items()}, times)
    report = Report("step", "A step of tic-tac-toe", HOW)
    for name, values in found.items():
        report.measure(name, values, "steps / CPU-s")
    mine, whole_view, both, theirs, theirs_raw, zoos = found.values()
    report.ratio("step: a room over TextArena's loop", quotients(mine, theirs), 1.35)
    report.ratio("step: a room over PettingZoo's loop", quotients(mine, zoos), 2.0)
    report.ratio("step: a room over TextArena's loop without wrapper", quotients(mine, theirs_raw))
    report.ratio("step: a room with the whole view over TextArena's loop", quotients(whole_view, theirs), 0.95)
    report.ratio("step: a room with an observation in the reply too over TextArena's loop", quotients(both, theirs))
    return report
