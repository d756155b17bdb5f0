"""Who an agent is without further set-up, and items that reach nobody or an agent of the person who reads."""

import pytest

from cohabit.workspace.session import Session


@pytest.fixture
def fresh(tmp_path, remote, now):
    """A session of a client without any settings of ours; git knows the person."""
    made = []

    def make(client, name="Ann Smith"):
        home = tmp_path / "person"
        home.mkdir(exist_ok=True)
        (home / ".gitconfig").write_text(f"[user]\nname = {name}\nemail = ann@example.org\n")
        session = Session(home / ".multisphere", {"HOME": str(home), "PATH": "/usr/bin:/bin"}, now=now)
        session.client = client
        made.append(session)
        return session

    yield make
    for session in made:
        session.close()


@pytest.mark.parametrize(
    ("client", "expected"),
    [("claude-code", "ann-claude-code"), ("Cursor 1.2", "ann-cursor-1-2"), ("claude-ai", "ann-cowork"), (None, "ann-agent")],
)  # fmt: skip
def test_an_agent_that_starts_right_after_init_has_an_identity_from_git_and_its_client(fresh, remote, client, expected):
    first = fresh("cli")
    first.call("workspace_init", {"name": "board", "remote_url": str(remote), "local_path": "~/board"})
    agent = fresh(client)
    assert agent.call("workspace_info", {})["agent_id"] == expected
    agent.call("journal_append", {"summary": "works at once"})
    agent.call("add", {"paths": ["journal.md"]})
    agent.call("commit", {"message": "at once"})
    assert agent.call("sync", {})["ok"]
    [commit] = agent.call("log", {"n": 1})["commits"]
    assert (commit["author_name"], commit["author_email"], commit["agent_id"]) == (
        "Ann Smith",
        "ann@example.org",
        expected,
    )


def test_settings_take_precedence_over_git(fresh):
    session = fresh("claude-code")
    session.home.mkdir()
    (session.home / "identity.json").write_text(
        '{"user_slug": "bo", "agent_name": "Bo", "agent_email": "b@example.org"}'
    )
    assert session.identity().agent_id == "bo-claude-code"


def test_a_name_without_usable_letters_needs_settings(fresh):
    assert fresh("claude-code", name="李").agent_id() is None


# -- unknown targets ------------------------------------------------------------------------------
def test_an_item_for_an_agent_that_nobody_knows_is_added_with_a_warning(clone):
    ann, bob = clone("ann"), clone("bob")
    bob.call("whats_new", {})
    bob.call("journal_append", {"summary": "x"})
    bob.call("add", {"paths": ["."]})
    bob.call("commit", {"message": "x"})
    bob.call("sync", {})
    ann.call("sync", {})
    warned = ann.call("inbox_add", {"title": "Look", "for": "bbo-cli"})
    assert warned["id"] == "INB-001"
    assert "bbo-cli" in warned["note"]
    assert "bob-cli" in warned["note"]
    for target in ("bob-cli", "ann-cli", "anyone", None):
        assert "note" not in ann.call("inbox_add", {"title": "Look", **({"for": target} if target else {})})
    todos = [{"for": "nobody-cli", "text": "do it"}, {"text": "anyone"}, {"for": "bob-cli", "text": "look"}]
    answer = ann.call("journal_append", {"summary": "x", "todos": todos})
    assert "nobody-cli" in answer["note"]


# -- a person and their agents --------------------------------------------------------------------
def test_a_person_sees_the_items_for_their_agents_and_an_agent_only_its_own(clone, tmp_path):
    ann, bob = clone("ann"), clone("bob")
    for target in ("ann-claude-code", "ann-cli", "annette-cursor", "anyone"):
        bob.call("inbox_add", {"title": f"for {target}", "for": target})
    bob.call("add", {"paths": ["inbox.md"]})
    bob.call("commit", {"message": "ask"})
    bob.call("sync", {})
    ann.call("sync", {})
    news = ann.call("whats_new", {"ack": False})
    assert [(item["title"], item.get("target")) for item in news["for_me"]] == [
        ("for ann-cli", None),
        ("for ann-claude-code", "@ann-claude-code"),
    ]
    listed = ann.call("inbox_list", {})
    assert [item["target"] for item in listed["items"]][:2] == ["@ann-cli", "@ann-claude-code"]
    assert listed["counts"]["for_me"] == 2
    agent = Session(ann.home, {**ann.environ, "COHABIT_AGENT_ID": "ann-claude-code"}, now=ann.now)
    assert [item["title"] for item in agent.call("whats_new", {"ack": False})["for_me"]] == ["for ann-claude-code"]
    agent.close()
    assert tmp_path.exists()
