"""The git tools and whats_new as an agent calls them: names, arguments and answers."""

import json

import pytest

from cohabit.errors import BadArgs, UnknownAsset
from cohabit.workspace.tools import tools

EMPTY = {"changes": 0, "insertions": 0, "deletions": 0}


def test_the_tools_have_the_order_of_the_plan():
    names = list(tools("compat"))
    assert names[4:12] == ["fetch", "pull", "status", "diff", "log", "add", "commit", "push"]
    assert names[-1] == "whats_new"
    assert {"ack", "health"} <= set(tools("full")) - set(tools("compat"))


def test_only_tools_that_change_something_are_marked_as_writing():
    looking = [name for name in ("status", "diff", "log", "health") if not tools()[name].writes]
    changing = [name for name in ("fetch", "pull", "add", "commit", "push", "whats_new", "ack") if tools()[name].writes]
    assert (len(looking), len(changing)) == (4, 7)


def test_a_day_of_one_agent(clone):
    ann = clone("ann")
    ann.call("write", {"path": "drafts/deck.md", "content": "slide one\n"})
    assert ann.call("status", {})["not_added"] == ["drafts/deck.md"]
    assert ann.call("add", {"paths": ["drafts/deck.md"]}) == {"added": ["drafts/deck.md"]}
    made = ann.call("commit", {"message": "first slide"})
    assert made["summary"] == {"changes": 1, "insertions": 1, "deletions": 0}
    assert (len(made["sha"]), made["branch"]) == (40, "main")
    assert ann.call("status", {})["clean"] is True
    assert ann.call("log", {"n": 1})["commits"][0]["sha"] == made["sha"]
    assert "+slide one" in ann.call("diff", {"since": "HEAD~1"})["diff"]
    visit = ann.call("whats_new", {})
    assert (visit["first_visit"], visit["current_sha"]) == (True, made["sha"])
    assert [entry["name"] for entry in ann.call("list", {"dir": ".pointers"})["entries"]] == [
        ".gitkeep",
        "ann-cli.json",
    ]


def test_two_agents_see_each_other(clone):
    ann, bob = clone("ann"), clone("bob")
    for agent in (ann, bob):
        agent.call("whats_new", {})
    bob.call("inbox_add", {"title": "Read slide 6", "for": "ann-cli"})
    bob.call("journal_append", {"summary": "Asked Ann."})
    bob.call("add", {"paths": ["inbox.md", "journal.md"]})
    bob.call("commit", {"message": "asked"})
    assert bob.call("push", {})["ok"] is True
    assert ann.call("fetch", {})["updated"] is True
    waiting = ann.call("whats_new", {})
    assert (waiting["behind"], waiting["new_commits"], waiting["for_me"]) == (1, [], [])
    ann.call("pull", {})
    news = ann.call("whats_new", {})
    assert [item["title"] for item in news["for_me"]] == ["Read slide 6"]
    assert [entry["summary"] for entry in news["journal"]] == ["Asked Ann."]
    assert [commit["message"] for commit in news["new_commits"]] == ["[bob-cli] asked"]
    assert news["changed_files"] == ["inbox.md", "journal.md"]
    assert json.dumps(news)


def test_a_commit_with_nothing_staged_says_so(clone):
    ann = clone("ann")
    answer = ann.call("commit", {"message": "nothing"})
    note = answer.pop("note")
    assert answer == {"sha": "", "branch": "", "summary": EMPTY}
    assert "Nothing was committed" in note
    assert "add" in note


@pytest.mark.parametrize(
    ("name", "args"),
    [
        ("log", {"n": 0}), ("log", {"n": -1}), ("log", {"since": "--output=/tmp/x"}), ("log", {"paths": ["../x"]}),
        ("diff", {"offset": -1}), ("diff", {"since": "a..b"}), ("add", {}), ("add", {"paths": "a.md"}),
        ("commit", {}), ("commit", {"message": " "}), ("whats_new", {"limit": 0}), ("ack", {"cursor": "x"}),
    ],
)  # fmt: skip
def test_wrong_arguments_are_refused(clone, name, args):
    with pytest.raises(BadArgs):
        clone("ann").call(name, args)


def test_nothing_is_written_outside_by_a_revision(clone, tmp_path):
    ann = clone("ann")
    for name in ("diff", "log"):
        with pytest.raises(BadArgs):
            ann.call(name, {"since": f"--output={tmp_path}/written"})
    with pytest.raises(UnknownAsset):
        ann.call("log", {"since": "never-heard-of"})
    assert not list(tmp_path.glob("written*"))


def test_a_session_signs_with_the_configured_key(clone, tmp_path):
    ann = clone("ann")
    ann.close()
    ann.environ["COHABIT_SIGNING_KEY"] = str(tmp_path / "no-such-key")
    ann.call("write", {"path": "a.md", "content": "x"})
    ann.call("add", {"paths": ["a.md"]})
    with pytest.raises(BadArgs, match="the signing key does not exist"):
        ann.call("commit", {"message": "signed"})
