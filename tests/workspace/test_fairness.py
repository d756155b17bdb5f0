"""No agent starves: between the beginning and the end of a push, others push only so often.

Time is simulated here: a push takes a tenth of a second, one that has to fetch and merge first four tenths. The bench
``workspace`` measures real agents.
"""

import heapq
import random
from dataclasses import dataclass

import pytest

from cohabit.workspace.sharing import fairness, publish
from cohabit.workspace.sharing.fairness import LastPush

PUSH, FETCH, MERGE = 0.1, 0.1, 0.2


@dataclass
class Agent:
    known: int = 0
    began: int = 0
    """Pushes by all when the current push began."""
    losses: int = 0
    pushes: int = 0
    overtaken: int = 0
    last: LastPush | None = None


def simulated(agents: int, pushes: int, seed: int) -> list[Agent]:
    """Agents that push without a pause of their own, until there were so many pushes."""
    chance, remote = random.Random(seed), 0
    found = [Agent() for _ in range(agents)]
    events = [(chance.random(), i, i, "begin", 0.0) for i in range(agents)]
    count = agents

    def then(at: float, who: int, what: str, since: float) -> None:
        nonlocal count
        count += 1
        heapq.heappush(events, (at * chance.uniform(1.0, 1.0001), count, who, what, since))

    while remote < pushes:
        now, _, who, what, since = heapq.heappop(events)
        agent = found[who]
        if what == "begin":
            agent.began, agent.losses = remote, 0
            pause = agent.last.pause(now) if agent.last else 0.0
            then(now + pause + PUSH, who, "push", now + pause)
        elif what == "fetch":
            agent.known = remote
            then(now + MERGE + PUSH, who, "push", since)
        elif agent.known == remote:
            agent.overtaken = max(agent.overtaken, remote - agent.began)
            remote += 1
            merged = now - since > 2 * PUSH
            agent.pushes, agent.known = agent.pushes + 1, remote
            agent.last = LastPush(now, now - since, merged, agent.losses)
            then(now + 0.05, who, "begin", 0.0)
        else:
            agent.losses += 1
            again = now + fairness.backoff(agent.losses, now - since, fairness.PUSH_SECONDS)
            then(again + FETCH, who, "fetch", again)
    return found


@pytest.fixture(autouse=True)
def turns(no_turns: None, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fairness, "MAX_TURN_PAUSE", 5.0)


@pytest.mark.parametrize("agents", [2, 4, 8])
@pytest.mark.parametrize("seed", range(5))
def test_nobody_is_overtaken_for_long_and_everybody_gets_a_share(agents, seed, monkeypatch):
    monkeypatch.setattr(fairness, "random", random.Random(seed))
    found = simulated(agents, 100 * agents, seed)
    assert max(agent.overtaken for agent in found) <= 6 * agents
    assert min(agent.pushes for agent in found) >= 50


def test_without_turns_one_agent_would_push_nearly_alone(monkeypatch):
    monkeypatch.setattr(fairness, "MAX_TURN_PAUSE", 0.0)
    found = simulated(4, 400, 1)
    assert max(agent.pushes for agent in found) > 300


def test_an_agent_waits_only_after_a_push_without_a_merge_or_after_lost_races(monkeypatch):
    monkeypatch.setattr(fairness, "random", random.Random(1))
    assert LastPush(10.0, 0.5, True, 0).pause(10.0) == 0.0
    assert LastPush(10.0, 0.5, False, 0).pause(10.0) >= 2.0
    assert LastPush(10.0, 0.5, True, 3).pause(10.0) >= 1.5
    assert LastPush(10.0, 0.5, False, 0).pause(15.0) == 0.0
    assert LastPush(10.0, 60.0, False, 9).pause(10.0) == 5.0


def test_a_push_right_after_another_waits_without_the_lock_and_one_with_nothing_to_share_does_not(clone, monkeypatch):
    ann = clone("ann")
    waited = []

    def sleep(seconds):
        assert not ann.workspace().lock.mine
        waited.append(seconds)

    monkeypatch.setattr(publish.time, "sleep", sleep)
    for i in range(2):
        assert waited == []
        ann.call("write", {"path": "drafts/a.md", "content": str(i)})
        ann.call("add", {"paths": ["drafts/a.md"]})
        ann.call("commit", {"message": "x"})
        ann.call("push", {})
    assert len(waited) == 1
    assert waited[0] > 0
    ann.call("sync", {})
    assert len(waited) == 1
