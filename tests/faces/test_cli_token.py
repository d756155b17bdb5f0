"""`cohabit token`: credentials in the data folder, beside a house that runs."""

from pathlib import Path

import pytest

from cohabit.errors import Unauthorized
from cohabit.faces.cli import main
from cohabit.house.house import House
from cohabit.house.settings import Settings
from cohabit.scenario import read_scenario
from cohabit.testing.clock import FakeClock


def run(capsys: pytest.CaptureFixture[str], *words: str, code: int = 0) -> str:
    assert main(["token", *words]) == code
    out, err = capsys.readouterr()
    return err if code else out


def test_a_token_is_printed_once_and_only_its_hash_is_kept(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    token = run(capsys, "new", "me", "--host", "--data", str(tmp_path)).strip()
    assert len(token) == 48
    listed = run(capsys, "list", "--data", str(tmp_path))
    assert "me" in listed
    assert "every room" in listed
    assert token not in listed
    assert all(token.encode() not in path.read_bytes() for path in tmp_path.iterdir())


def test_make_prints_a_token_that_an_agents_file_may_hold(capsys: pytest.CaptureFixture[str]) -> None:
    from cohabit.scenario import check_token

    check_token(run(capsys, "make").strip())


async def test_a_running_house_knows_a_new_token_at_once_and_a_revoked_one_within_a_second(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    data = ("--data", str(tmp_path))
    clock = FakeClock()
    async with House.open(Settings(data=str(tmp_path)), clock=clock) as house:
        lost = run(capsys, "new", "boss", "--host", *data).strip()
        again = run(capsys, "new", "boss", "--host", *data).strip()
        assert house.identify(lost).host
        assert house.identify(again).kind == "human"
        assert "2 revoked" in run(capsys, "revoke", "boss", *data)
        await clock.advance(1000)
        for token in (lost, again):
            with pytest.raises(Unauthorized, match="revoked"):
                house.identify(token)
        assert run(capsys, "list", *data).count("revoked") == 2


async def test_rotating_replaces_a_members_token_and_leaves_the_others(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    data = ("--data", str(tmp_path))
    async with House.open(Settings(data=str(tmp_path))) as house:
        _, tokens = await house.create_room(read_scenario("demo"), "demo")
        fresh = run(capsys, "rotate", "ada", "--room", "demo", *data).strip()
        assert (house.identify(fresh).who, house.identify(fresh).room) == ("ada", "demo")
        with pytest.raises(Unauthorized):
            house.identities.identify(tokens["ada"], house.clock.now() + 1000)
        assert house.identify(tokens["cleo"]).who == "cleo"


async def test_a_token_for_a_room_is_for_one_of_its_members(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    data = ("--data", str(tmp_path))
    async with House.open(Settings(data=str(tmp_path))) as house:
        await house.create_room(read_scenario("demo"), "demo")
        assert house.identify(run(capsys, "new", "you", "--room", "demo", *data).strip()).kind == "human"
        assert "Did you mean: ada" in run(capsys, "new", "adda", "--room", "demo", *data, code=1)
        assert "there is no room 'dmo'" in run(capsys, "new", "ada", "--room", "dmo", *data, code=1)
        assert "is of kind agent" in run(capsys, "new", "ada", "--kind", "human", "--room", "demo", *data, code=1)
        assert "say --room" in run(capsys, "rotate", "ada", *data, code=1)
        assert "no token" in run(capsys, "revoke", "nobody", *data, code=1)


async def test_a_token_can_run_out(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    async with House.open(Settings(data=str(tmp_path))) as house:
        token = run(capsys, "new", "guest", "--expires", "30d", "--data", str(tmp_path)).strip()
        assert house.identify(token).who == "guest"
        with pytest.raises(Unauthorized, match="expired"):
            house.identities.identify(token, house.clock.now() + 31 * 86_400_000)
