"""``cohabit workspace serve``: one command makes a repository, a room around it, and a token for each member."""

import argparse
import asyncio
import subprocess
from pathlib import Path
from typing import Any

import pytest

from cohabit.errors import BadArgs
from cohabit.faces.cli.say import UsageError
from cohabit.faces.cli.workspace.house import plan_of
from cohabit.faces.python import connect

from .test_cli_house import Running, cohabit, running


def call(house: Running, token: str, command: str, **args: Any) -> Any:
    """One call over HTTP, as a member."""

    async def ask() -> Any:
        async with connect(house.url, token, transport="http") as client:
            return await client.call(command, args)

    return asyncio.run(ask())


def test_a_workspace_is_served_stopped_and_resumed_and_its_record_is_verified(tmp_path: Path) -> None:
    with running("workspace", "serve", "--members", "ann,bob", "--watchers", "eve", home=tmp_path) as house:
        ann, eve = house.token("ann"), house.token("eve")
        shared = next(line.split(": ")[1] for line in house.greeting if line.startswith("The shared repository"))
        assert f"claude mcp add cohabit-ann --transport http {house.url}/mcp/workspace " in house.text
        call(house, ann, "journal_append", summary="Began")
        call(house, ann, "add", paths=["journal.md"])
        call(house, ann, "commit", message="Begin")
        assert call(house, ann, "push")["ok"]
        assert house.says("ann: pushed")
        refused = cohabit("call", "push", "--url", house.url, home=tmp_path, env={"COHABIT_TOKEN": eve})
        assert refused.returncode == 1
        assert "PERMISSION_DENIED" in refused.stderr
        code, _, err = house.stop()
        assert (code, err) == (0, "")
    plain = subprocess.run(["git", "-C", shared, "show", "main:journal.md"], capture_output=True, text=True, check=True)
    assert "Began" in plain.stdout
    verified = cohabit("verify", home=tmp_path)
    assert verified.returncode == 0, verified.stderr
    assert "taken from the record" in verified.stdout
    other = cohabit("workspace", "serve", "--remote", "/somewhere/else.git", "--port", "0", home=tmp_path)
    assert other.returncode == 1
    assert "already exists for another repository" in other.stderr
    with running("serve", home=tmp_path) as again:  # it connects by itself
        assert call(again, eve, "board")["journal"][0]["summary"] == "Began"
        assert call(again, ann, "status")["clean"] is True


def test_members_who_are_named_later_are_listed_with_the_command_that_invites_them(tmp_path: Path) -> None:
    with running("workspace", "serve", "--members", "ann,carl", "--watchers", "eve", home=tmp_path) as house:
        you = house.token("host")
        assert "not in this room yet" not in house.text
        house.stop()
    with running("workspace", "serve", home=tmp_path) as house:
        assert "not in this room yet" not in house.text, "nobody was named"
        house.stop()
    named = ("--members", "ann,dora", "--watchers", "eve,frank")
    with running("workspace", "serve", *named, home=tmp_path) as house:
        told = house.greeting.index("dora, frank are not in this room yet. Invite them with the host's token:")
        lines = house.greeting[told + 1 : told + 3]
        assert lines == [
            f"  COHABIT_TOKEN=… cohabit invite dora --role player --claim auto:2 --room workspace --url {house.url}",
            f"  COHABIT_TOKEN=… cohabit invite frank --room workspace --url {house.url}",
        ]
        tokens = []
        for line in lines:
            done = cohabit(*line.split()[2:], home=tmp_path, env={"COHABIT_TOKEN": you})
            assert done.returncode == 0, done.stderr
            tokens.append(call(house, done.stdout.splitlines()[1].strip(), "join")["token"])
        assert call(house, tokens[0], "journal_append", summary="Here too")["agent_id"] == "dora"
        assert call(house, tokens[1], "board")["journal"] == []
        refused = cohabit("call", "push", "--url", house.url, home=tmp_path, env={"COHABIT_TOKEN": tokens[1]})
        assert "PERMISSION_DENIED" in refused.stderr


def test_a_remote_that_does_not_answer_is_told_in_the_quoted_words_of_git(tmp_path: Path) -> None:
    (tmp_path / "no.git").mkdir()
    (tmp_path / "no.git" / "file").touch()
    with running("workspace", "serve", "--remote", "./no.git", home=tmp_path) as house:
        assert house.greeting[0].startswith("The shared repository: the remote does not answer: ")
        (said,) = house.greeting[: house.greeting.index("")]
        assert said.endswith('; and the repository exists.". It is retried every few seconds.')


def options(**given: Any) -> argparse.Namespace:
    return argparse.Namespace(**{"members": None, "watchers": None, "remote": None, "room": None, **given})


def test_each_member_gets_a_seat_and_there_are_some_more(tmp_path: Path) -> None:
    plan = plan_of(options(watchers=" eve "))
    assert plan.room == "workspace"
    assert [(a.id, a.role, a.claim) for a in plan.scenario.agents] == [
        ("host", "host", None), ("ann", "player", "auto:0"), ("bob", "player", "auto:1"),
        ("eve", "agent", None),
    ]  # fmt: skip
    assert plan.scenario.config == {"writers": 8}
    assert plan_of(options(members=",".join(f"a{i}" for i in range(20)))).scenario.config == {"writers": 22}


def test_a_path_is_made_whole_and_an_address_is_left_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HOME", "/home/ann")
    for given, meant in (
        ("./deck.git", f"{tmp_path}/deck.git"),
        ("~/deck.git", "/home/ann/deck.git"),
        ("git@example.org:us/deck.git", "git@example.org:us/deck.git"),
        ("https://example.org/deck.git", "https://example.org/deck.git"),
    ):
        assert plan_of(options(remote=given)).scenario.config["remote"] == meant


@pytest.mark.parametrize("given", [{"members": "ann,ann"}, {"members": "host"}, {"watchers": "bob"}])
def test_two_of_one_name_are_refused(given: dict[str, str]) -> None:
    with pytest.raises(UsageError):
        plan_of(options(**given))


def test_a_name_that_is_an_address_is_refused() -> None:
    with pytest.raises(BadArgs):
        plan_of(options(members="team:x"))
