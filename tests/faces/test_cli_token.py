"""`cohabit token`: credentials of a house, managed through the house while it runs, and in its folder while it does not."""

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from tests.postgres import Server

from cohabit.errors import Unauthorized
from cohabit.faces.addresses import local_address
from cohabit.faces.cli import main
from cohabit.faces.cli.operator import operator_file
from cohabit.faces.serve import bind
from cohabit.house.house import House
from cohabit.house.settings import Settings
from cohabit.scenario import parse_scenario

from .certificates import make_certificate
from .serving import listening

NIM = {"world": "nim", "agents": [{"id": "ada", "role": "player", "claim": "auto:0"}, {"id": "you", "kind": "human"}]}


def run(capsys: pytest.CaptureFixture[str], *words: str, code: int = 0) -> str:
    assert main(["token", *words]) == code
    out, err = capsys.readouterr()
    return err if code else out


class Running:
    """A house that listens, and the command line beside it."""

    def __init__(self, house: House, folder: Path, capsys: pytest.CaptureFixture[str], tokens: dict[str, str]) -> None:
        self.house, self.tokens = house, tokens
        self._folder, self._capsys = folder, capsys

    async def token(self, *words: str, code: int = 0) -> str:
        return await self.verb("token", *words, code=code)

    async def verb(self, *words: str, code: int = 0) -> str:
        """What one command line prints."""
        assert await asyncio.to_thread(main, [*words, "--data", str(self._folder)]) == code
        out, err = self._capsys.readouterr()
        return (err if code else out).strip()


@asynccontextmanager
async def running(folder: Path, capsys: pytest.CaptureFixture[str], **more: Any) -> AsyncIterator[Running]:
    settings = Settings(data=str(folder), port=0, **more)
    async with House.open(settings) as house:
        _, tokens = await house.create_room(parse_scenario(json.dumps(NIM)), "den")
        listener = bind(settings)
        async with listening(house, listener) as url:
            with operator_file(house, url, listener.getsockname()[1]):
                yield Running(house, folder, capsys, tokens)


async def test_a_house_behind_a_proxy_is_managed_without_the_proxy(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    async with running(tmp_path, capsys, public_url="https://play.example.invalid") as here:
        assert len(await here.token("new", "me", "--host")) == 48
        assert "https://play.example.invalid/?room=den#" in await here.verb("links", "den", "--renew", "ada")


async def test_a_house_with_tls_is_managed_although_its_certificate_is_not_for_its_own_machine(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    chain, key = tmp_path / "chain.pem", tmp_path / "key.pem"
    make_certificate(chain, key, "DNS:play.example.invalid")
    chain.write_bytes(chain.read_bytes() + key.read_bytes())
    public = "https://play.example.invalid"
    async with running(tmp_path, capsys, public_url=public, tls_cert=str(chain)) as here:
        assert len(await here.token("new", "me", "--host")) == 48
        assert f"{public}/?room=den#" in await here.verb("links", "den", "--renew", "ada")
        assert f"running at {public}" in await here.verb("doctor", "--json")
        assert "PRIVATE KEY" not in (tmp_path / "operator.json").read_text()


async def test_the_command_line_gives_its_token_to_nobody_but_the_house(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Somebody else may listen at its address, with a certificate of the same name."""
    files = {name: str(tmp_path / name) for name in ("chain.pem", "key.pem", "other.pem", "other-key.pem")}
    make_certificate(tmp_path / "chain.pem", tmp_path / "key.pem")
    make_certificate(tmp_path / "other.pem", tmp_path / "other-key.pem")
    tls = {"tls_cert": files["chain.pem"], "tls_key": files["key.pem"]}
    async with running(tmp_path, capsys, **tls) as here:
        found = json.loads((tmp_path / "operator.json").read_text())
        found["certificate"] = (tmp_path / "other.pem").read_text()
        (tmp_path / "operator.json").write_text(json.dumps(found))
        assert "CERTIFICATE_VERIFY_FAILED" in await here.token("list", code=1)


async def test_a_house_stops_in_order_although_it_cannot_remove_its_token_from_a_disk_that_became_read_only(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], caplog: pytest.LogCaptureFixture
) -> None:
    path = tmp_path / "operator.json"
    async with running(tmp_path, capsys):
        path.unlink()
        path.mkdir()  # root could remove a file from a read-only folder
    assert f"{path} could not be removed" in caplog.text


@pytest.mark.parametrize(
    ("settings", "expected"),
    [
        ({}, "http://127.0.0.1:99"),
        ({"host": "0.0.0.0", "public_url": "https://play.example.org"}, "http://127.0.0.1:99"),
        ({"host": "::", "public_url": "https://play.example.org"}, "http://[::1]:99"),
        ({"host": "10.0.0.5"}, "http://10.0.0.5:99"),
        ({"tls_cert": "cert.pem", "public_url": "https://play.example.org"}, "https://127.0.0.1:99"),
    ],
)
def test_a_house_has_an_address_for_its_own_machine(settings: dict[str, str], expected: str) -> None:
    assert local_address(Settings(**settings), 99) == expected  # type: ignore[arg-type]


def test_a_token_is_printed_once_and_only_its_hash_is_kept(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    token = run(capsys, "new", "me", "--host", "--data", str(tmp_path)).strip()
    assert len(token) == 48
    listed = run(capsys, "list", "--data", str(tmp_path))
    assert "me" in listed
    assert "every room" in listed
    assert token not in listed
    assert all(token.encode() not in path.read_bytes() for path in tmp_path.iterdir())


def test_a_house_that_does_not_run_is_opened_for_the_change_and_closed_again(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    data = ("--data", str(tmp_path))
    first = run(capsys, "new", "me", "--host", *data).strip()
    assert run(capsys, "rotate", "me", *data).strip() != first
    assert "1 revoked" in run(capsys, "revoke", "me", *data)
    assert run(capsys, "list", *data).count("revoked") == 2


def test_make_prints_a_token_that_an_agents_file_may_hold(capsys: pytest.CaptureFixture[str]) -> None:
    from cohabit.scenario import check_token

    check_token(run(capsys, "make").strip())


async def test_a_running_house_knows_a_new_token_and_a_revoked_one_at_once(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    async with running(tmp_path, capsys) as here:
        token = await here.token("new", "boss", "--host")
        known = here.house.identities.get(here.house.identify(token).identity)
        assert known is not None
        assert (known.name, known.kind, known.host) == ("boss", "human", True)
        assert "1 revoked" in await here.token("revoke", "boss")
        with pytest.raises(Unauthorized, match="revoked"):
            here.house.identify(token)
        assert (await here.token("list")).count("revoked") == 1


async def test_two_identities_of_one_name_are_told_apart_by_their_ids(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    async with running(tmp_path, capsys) as here:
        first, second = [await here.token("new", "sam") for _ in range(2)]
        refused = await here.token("revoke", "sam", code=1)
        assert "2 identities have the name 'sam'" in refused
        identity = here.house.identify(second).identity
        assert "1 revoked" in await here.token("revoke", identity)
        here.house.identify(first)
        with pytest.raises(Unauthorized):
            here.house.identify(second)


async def test_rotating_replaces_a_members_token_tells_the_member_and_leaves_the_others(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    async with running(tmp_path, capsys) as here:
        fresh = await here.token("rotate", "ada", "--room", "den")
        credential = here.house.identify(fresh)
        with pytest.raises(Unauthorized):
            here.house.identify(here.tokens["ada"])
        here.house.identify(here.tokens["you"])
        events = await here.house.call(credential, "den", "events")
        assert "operator (a host of this house) replaced your token" in [item.text for item in events.items]


async def test_a_token_for_a_room_is_for_one_of_its_members(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    async with running(tmp_path, capsys) as here:
        made = here.house.identify(await here.token("new", "you", "--room", "den"))
        assert (await here.house.call(made, None, "whoami")).handle == "you"
        assert "Did you mean: ada" in await here.token("new", "adda", "--room", "den", code=1)
        assert "unknown room 'dmo'" in await here.token("new", "ada", "--room", "dmo", code=1)
        assert "is of kind agent" in await here.token("new", "ada", "--kind", "human", "--room", "den", code=1)
        assert "only for room den; add --room den" in await here.token("rotate", "ada", code=1)
        assert "no house-wide token" in await here.token("revoke", "nobody", code=1)


async def test_a_token_can_expire(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    async with running(tmp_path, capsys) as here:
        token = await here.token("new", "guest", "--expires", "30d")
        here.house.identify(token)
        with pytest.raises(Unauthorized, match="expired"):
            here.house.identities.identify(token, here.house.clock.now() + 31 * 86_400_000)


@pytest.mark.parametrize("verb", ["new", "revoke"])
def test_the_folder_of_a_stopped_house_on_postgresql_gets_no_token_that_no_house_knows(
    verb: str, postgres: Server, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    store = postgres.new_schema()
    made = run(capsys, "new", "me", "--host", "--data", str(tmp_path), "--store", store)
    said = run(capsys, verb, "me", "--data", str(tmp_path), code=1)
    assert "keeps its data in PostgreSQL; give the address with --store or COHABIT_STORE" in said
    assert not (tmp_path / "cohabit.db").exists()
    assert len(made.strip()) == 48
