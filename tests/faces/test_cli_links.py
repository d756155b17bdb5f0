"""`cohabit links` and `rebind`: lost links and moved world files."""

import asyncio
import shutil
from pathlib import Path

import pytest

from cohabit.errors import Unauthorized
from cohabit.faces.cli import main
from cohabit.faces.cli.operator import house_url
from cohabit.house.access.credentials import revoke_and_store
from cohabit.house.house import House
from cohabit.house.running.calls import Call
from cohabit.house.settings import Settings
from cohabit.model.identity import Credential
from cohabit.scenario import AgentSpec, Scenario

from .test_cli_token import running

Captured = pytest.CaptureFixture[str]
GAME = "from cohabit.worlds.nim import Nim\nclass Game(Nim):\n    pass\n"
ANN = AgentSpec(id="ann", role="player", claim="auto:0")
BOB = AgentSpec(id="bob", role="player", claim="auto:1")


async def command_line(capsys: Captured, *words: str) -> tuple[int, str, str]:
    capsys.readouterr()
    code = await asyncio.to_thread(main, words)
    return code, *capsys.readouterr()


async def ask(capsys: Captured, *words: str, code: int = 0) -> str:
    found, out, err = await command_line(capsys, *words)
    assert found == code, err
    return err if code else out


# -- links ----------------------------------------------------------------------------------------
async def test_links_show_where_a_room_is_and_who_has_a_token_but_no_token(tmp_path: Path, capsys: Captured) -> None:
    async with House.open(Settings(data=str(tmp_path))) as house:
        _, tokens = await house.create_room(Scenario(agents=[ANN, AgentSpec(id="bob")], world="nim"), "den")
        await revoke_and_store(house.services, [house.identify(tokens["bob"])])
    out = await ask(capsys, "links", "--data", str(tmp_path))
    assert "http://127.0.0.1:8724/?room=den\n" in out
    assert "http://127.0.0.1:8724/mcp/den\n" in out
    assert [line.split() for line in out.splitlines() if line.startswith(("ann", "bob"))] == [
        ["ann", "valid"],
        ["bob", "revoked"],
    ]
    assert all(token not in out for token in tokens.values())
    assert "Did you mean: den" in (await ask(capsys, "links", "dan", "--data", str(tmp_path), code=1))
    assert "needs the ROOM" in (await ask(capsys, "links", "--renew", "ann", "--data", str(tmp_path), code=2))
    empty = Settings(data=str(tmp_path / "empty"))
    async with House.open(empty):
        pass
    assert "no rooms yet" in await ask(capsys, "links", "--data", empty.data)


@pytest.mark.parametrize(
    "words",
    [
        ["links"], ["links", "den", "--renew", "ann"], ["rebind", "den", "nim"], ["token", "list"],
        ["token", "rotate", "ann"], ["token", "revoke", "ann"], ["data", "show", "ann"], ["egress", "den"],
    ],
)  # fmt: skip
def test_in_a_mistyped_folder_only_the_first_credential_creates_a_house(
    words: list[str], tmp_path: Path, capsys: Captured
) -> None:
    folder = tmp_path / "gone"
    assert main([*words, "--data", str(folder)]) == 1
    assert f"no house in {folder} yet" in capsys.readouterr().err
    assert not folder.exists()
    assert main(["token", "new", "me", "--data", str(folder)]) == 0


async def test_a_lost_link_is_replaced_and_the_old_one_stops_working(tmp_path: Path, capsys: Captured) -> None:
    async with running(tmp_path, capsys) as here:
        url = house_url(Settings(data=str(tmp_path)))
        out = await here.verb("links", "den", "--renew", "ada")
        token = next(line.rpartition("#")[2] for line in out.splitlines() if "/?room=den#" in line)
        assert f"{url}/?room=den#{token}" in out
        assert f"claude mcp add cohabit-ada --transport http {url}/mcp/den " in out
        assert member_of(here.house, token) == "ada"
        _, _, said = await command_line(capsys, "links", "den", "--renew", "zed", "--data", str(tmp_path))
        assert "unknown member 'zed'; `cohabit links den` lists the members who have a token" in said
        with pytest.raises(Unauthorized):
            here.house.identify(here.tokens["ada"])
        await here.token("revoke", "ada", "--room", "den")
        again = await here.verb("links", "den", "--renew", "ada")
        assert member_of(here.house, again.splitlines()[1].rpartition("#")[2]) == "ada"


async def test_a_rotated_token_comes_with_its_links_and_stdout_has_the_token_alone(
    tmp_path: Path, capsys: Captured
) -> None:
    async with House.open(Settings(data=str(tmp_path))) as house:
        await house.create_room(Scenario(agents=[ANN], world="nim"), "den")
    data = ("--data", str(tmp_path))
    _, out, err = await command_line(capsys, "token", "rotate", "ann", "--room", "den", *data)
    token = out.strip()
    assert len(token) == 48
    assert err.splitlines()[0] == f"http://127.0.0.1:8724/?room=den#{token}"
    assert f'http://127.0.0.1:8724/mcp/den --header "Authorization: Bearer {token}"' in err
    _, out, err = await command_line(capsys, "token", "new", "me", "--host", *data)
    assert err == f"http://127.0.0.1:8724/#{out}"


def member_of(house: House, token: str) -> str:
    credential: Credential = house.identify(token)
    member = house.rooms["den"].room.member_of(credential.identity)
    assert member is not None
    return member.handle


# -- a world file that was moved --------------------------------------------------------------------
@pytest.fixture
async def moved(tmp_path: Path) -> Path:
    """A data folder with a room whose world is no longer where it was; where it is now."""
    game, now = tmp_path / "game.py", tmp_path / "games" / "renamed.py"
    game.write_text(GAME)
    async with House.open(Settings(data=str(tmp_path / "data"), snapshot_every=2)) as house:
        await house.create_room(Scenario(agents=[ANN, BOB], world=str(game), seed=3), "den")
        for who in ("ann", "bob"):
            await house.rooms["den"].submit(Call(who, "take", {"n": 1}))
    now.parent.mkdir()
    shutil.move(game, now)
    return now


async def test_a_room_finds_its_world_again_after_it_was_moved(moved: Path, tmp_path: Path, capsys: Captured) -> None:
    data = str(tmp_path / "data")
    async with House.open(Settings(data=data)) as house:
        assert "`cohabit rebind den FILE`" in house.broken["den"].message
    assert main(["verify", "den", "--data", data]) == 1
    assert "loads its world from" in await ask(capsys, "rebind", "den", str(moved), "--data", data)
    async with House.open(Settings(data=data)) as house:
        assert not house.broken
        await house.rooms["den"].submit(Call("ann", "take", {"n": 1}))
        taken = [line.entry.args for line in house.rooms["den"].history.recent if line.entry.do == "take"]
        assert taken[-1] == {"n": 1}
    out = tmp_path / "den.jsonl"
    assert main(["export", "den", "-o", str(out), "--data", data]) == 0
    assert main(["verify", "den", str(out), "--data", data, "--world", str(moved)]) == 0
    assert capsys.readouterr().out.count(": ok, ") == 2


@pytest.mark.parametrize(
    ("text", "says"),
    [
        (
            GAME.replace("pass", "spec = __import__('msgspec').structs.replace(Nim.spec, name='chess')"),
            "is the world 'chess'",
        ),
        (GAME.replace("pass", "spec = __import__('msgspec').structs.replace(Nim.spec, version='9')"), "version"),
        ("no Python", "cannot be imported"),
        (GAME.replace("pass", "def to_move(self):\n        raise ValueError"), "failed (ValueError)"),
    ],
    ids=["another world", "another version", "no world", "other rules"],
)
async def test_a_room_is_not_bound_to_a_world_that_does_not_continue_its_record(
    text: str, says: str, moved: Path, tmp_path: Path, capsys: Captured
) -> None:
    data = str(tmp_path / "data")
    moved.write_text(text)
    assert says in (await ask(capsys, "rebind", "den", str(moved), "--data", data, code=1))
    moved.write_text(GAME)
    await ask(capsys, "rebind", "den", str(moved), "--data", data)
    assert "Did you mean: den" in (await ask(capsys, "rebind", "dan", str(moved), "--data", data, code=1))


async def test_a_room_of_a_running_house_is_not_rebound(tmp_path: Path, capsys: Captured) -> None:
    async with House.open(Settings(data=str(tmp_path))):
        refused = await ask(capsys, "rebind", "den", "nim", "--data", str(tmp_path), code=1)
    assert "Stop it" in refused
