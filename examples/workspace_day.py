"""Four people, each with an agent, write a slide deck in one shared git repository: a simulated day.

Run it with `python examples/workspace_day.py`. It needs git; the repository, the four clones and everything else are
in a temporary folder. Each agent has its own session, as with a separate MCP server.
"""

import base64
import re
import subprocess
import tempfile
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from cohabit.errors import Conflict
from cohabit.workspace.session import Session

DRAFT = """\
# Oven-fresh robots

1. Why now: {why}
2. Market: 41,000 bakeries
3. Comparable raises: {comps}
"""


class Clock:
    """The simulated time. It advances whenever an agent starts a session."""

    def __init__(self) -> None:
        self.now = datetime(2026, 5, 22, 9, 0, tzinfo=UTC)

    def __call__(self) -> datetime:
        return self.now


class Agent:
    """The agent of one person: a session with its own settings folder and clone."""

    def __init__(self, folder: Path, person: str, client: str, clock: Clock) -> None:
        self.id = f"{person.lower()}-{client}"
        self.clone = folder / self.id
        self.clock = clock
        who = {"ID": self.id, "NAME": person, "EMAIL": f"{person.lower()}@example.org"}
        environ = {"HOME": str(folder)} | {f"COHABIT_AGENT_{key}": value for key, value in who.items()}
        self.session = Session(folder / f"{self.id}.config", environ, now=clock)

    def __call__(self, tool: str, /, **args: Any) -> dict[str, Any]:
        return self.session.call(tool, args)

    def says(self, text: str) -> None:
        print(f"{self.clock.now:%H:%M}  {self.id:<17} {text}")

    def starts_session(self) -> dict[str, Any]:
        """Start a session as the protocol says: update the clone and read what is new."""
        self.clock.now += timedelta(minutes=20)
        self("sync")
        return self("whats_new")

    def commits(self, summary: str, **more: Any) -> None:
        """End a session as the protocol says, up to the commit."""
        self("journal_append", summary=summary, **more)
        self("add", paths=["."])
        self("commit", message=summary)
        self.says(summary)


def day(folder: Path) -> list[Agent]:
    """What happens between nine and noon."""
    clock, remote = Clock(), str(folder / "deck.git")
    ann, bob, cleo, dan = team = [
        Agent(folder, person, client, clock)
        for person, client in (("Ann", "claude-code"), ("Bob", "cursor"), ("Cleo", "cowork"), ("Dan", "cli"))
    ]
    for agent in team:  # the first one creates the repository and the files of the board
        agent("workspace_init", name="deck", remote_url=remote, local_path=str(agent.clone), create=True)
    ann.says("created the board; the others joined")
    two_look_things_up_at_once(ann, bob, cleo)
    one_item_is_taken_by_one(cleo, dan)
    a_draft_is_decided_on(ann, bob, dan)
    two_write_the_same_line(ann, cleo)
    for agent in team:
        agent.starts_session()
    return team


def two_look_things_up_at_once(ann: Agent, bob: Agent, cleo: Agent) -> None:
    """Research: both open an item, both get INB-001, and only one of them can keep the number."""
    for agent in (bob, cleo):
        agent.starts_session()
    bob(
        "write",
        path="research/comps.md",
        content="# Raises of bakery robots\n\n- Crumb, seed, 2 M\n- Knead, Series A, 9 M\n",
    )
    asked = bob("inbox_add", title="Seed or Series A comps?", body="I have both.", **{"for": ann.id})
    bob.commits(f"Comps are in research/comps.md; {asked['id']} asks which we show.")
    cleo("write", path="research/market.md", content="# The market\n\n41,000 bakeries, 3 % with any robot.\n")
    also = cleo("inbox_add", title="A chart of the market for slide 2")
    cleo.commits(f"Market numbers are in research/market.md; {also['id']} asks for a chart.")
    assert asked["id"] == also["id"] == "INB-001"
    bob("push")
    pushed = cleo("push")
    (renumbered,) = pushed["renumbered"]
    cleo.says(f"(pushed second: {renumbered['from']} is now {renumbered['to']}, in the journal too)")
    assert f"; {renumbered['to']} asks for a chart." in cleo("read", path="journal.md")["content"]


def one_item_is_taken_by_one(cleo: Agent, dan: Agent) -> None:
    """The chart is for anyone. Dan claims it, so no other agent can. The picture is written to assets/ as base64."""
    dan.starts_session()
    dan("claim", id="INB-002")
    try:
        cleo("claim", id="INB-002")
    except Conflict as taken:
        cleo.says(f"(wanted INB-002 too: {taken.message})")
    picture = b"\x89PNG, if this were a chart"
    dan("write", path="assets/market.png", content=base64.b64encode(picture).decode(), encoding="base64")
    dan("inbox_close", id="INB-002", resolution="in `assets/market.png`")
    dan.commits("Drew the chart of the market.")
    dan("push")


def a_draft_is_decided_on(ann: Agent, bob: Agent, dan: Agent) -> None:
    """Draft, comment, decision."""
    news = ann.starts_session()
    (question,) = news["for_me"]
    ann.says(f"(for me: {question['id']} {question['title']!r}, from {question['from']})")
    ann("write", path="drafts/deck.md", content=DRAFT.format(why="bakers retire", comps="see INB-001"))
    ann("inbox_add", title="Read the draft, please", **{"for": dan.id})
    ann.commits("First draft of the deck.", todos=[{"for": bob.id, "text": "say which comps you would show"}])
    ann("push")

    dan.starts_session()
    dan("write", path="comments/deck.md", content="Slide 1 is flat: say what a baker's night costs.\n")
    dan("inbox_close", id="INB-003", resolution="see `comments/deck.md`")
    dan.commits("Commented on slide 1.")
    dan("push")

    bob.starts_session()
    decided = bob(
        "decision_add",
        title="Series A comps only",
        context="We have seed and Series A raises.",
        decision="Series A only: that is whom investors compare us with.",
        consequences="Slide 3 names Knead. INB-001 is closed.",
        decided_by=[ann.id, bob.id],
        status="accepted",
    )
    bob("inbox_close", id="INB-001", resolution=f"decided in `{decided['path']}`")
    bob.commits("Decided with Ann: Series A comps only.")
    bob("push")


def two_write_the_same_line(ann: Agent, cleo: Agent) -> None:
    """A real conflict. Ann decides, and both sentences are kept."""
    for agent, why in ((cleo, "a baker's night costs 61 euros"), (ann, "bakers retire, and nobody wants the night")):
        agent.starts_session()
        draft = agent("read", path="drafts/deck.md")["content"]
        agent("write", path="drafts/deck.md", content=draft.replace("bakers retire", why))
        agent.commits(f"Slide 1: {why}.")
    cleo("push")
    told = ann("push")
    assert (told["error"], told["files"]) == ("conflict", ["drafts/deck.md"])
    ann.says("(conflict in drafts/deck.md: asked Ann)")
    both = "nobody wants the night, which costs a baker 61 euros"
    ann("resolve", path="drafts/deck.md", content=DRAFT.format(why=both, comps="Knead, 9 M"))
    assert ann("push")["ok"]
    ann.says("(resolved: the draft has both sentences)")


def check(team: list[Agent]) -> str:
    """Check that nothing is lost or duplicated, and that the four clones are the same."""
    heads = {agent("workspace_info")["head"] for agent in team}
    journal = team[0]("read", path="journal.md")["content"]
    entries = re.findall(r"^## \S+ \S+ — (\S+) \(", journal, re.MULTILINE)
    items = re.findall(r"^- \[x\] ~~(INB-\d+)", team[0]("read", path="inbox.md")["content"], re.MULTILINE)
    assert len(heads) == 1
    assert sorted(entries) == sorted(["bob-cursor", "cleo-cowork", "dan-cli"] * 2 + ["ann-claude-code"] * 2)
    assert sorted(items) == ["INB-001", "INB-002", "INB-003"]
    assert "which costs a baker 61 euros" in team[3]("read", path="drafts/deck.md")["content"]
    assert all(agent("status")["ahead"] == 0 for agent in team)
    subprocess.run(["git", "-C", str(team[0].clone), "fsck", "--strict"], check=True, capture_output=True)
    return f"{len(entries)} entries and {len(items)} items, each once; one conflict, resolved; four identical clones"


def main() -> None:
    with tempfile.TemporaryDirectory(prefix="workspace-day-") as folder:
        team = day(Path(folder))
        print(f"\nok: {check(team)}")
        for agent in team:
            agent.session.close()


if __name__ == "__main__":
    main()
