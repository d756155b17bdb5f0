"""Starting to serve: everything is bound and loaded before a room is created, and a problem is named."""

import asyncio
import logging
import socket
import subprocess
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import httpx2
import pytest
from starlette.types import Message

from cohabit.errors import BadArgs, Conflict
from cohabit.faces.addresses import ALL_INTERFACES, address, exposure, is_address, misnamed, outward_address
from cohabit.faces.app import make_app
from cohabit.faces.cli import main
from cohabit.faces.serve import bind, serve
from cohabit.house.house import House
from cohabit.house.settings import Settings
from cohabit.house.store.sqlite import SQLiteStore

from .certificates import make_certificate
from .serving import listening, served

Captured = pytest.CaptureFixture[str]


@pytest.fixture
def taken() -> Iterator[int]:
    with closing(socket.socket()) as one:
        one.bind(("127.0.0.1", 0))
        one.listen()
        yield one.getsockname()[1]


def rooms_in(folder: Path) -> list[str]:
    if not (folder / "cohabit.db").exists():
        return []
    with closing(SQLiteStore(folder, lock=False)) as store:
        return store.rooms()


def make_key(folder: Path, name: str, *more: str) -> tuple[str, str]:
    """A key and a certificate of its own."""
    cert, key = str(folder / f"{name}.pem"), str(folder / f"{name}.key")
    words = ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-subj", "/CN=x"]
    subprocess.run([*words, "-keyout", key, "-out", cert, *(more or ["-nodes"])], check=True, capture_output=True)
    return cert, key


# -- nothing is created that cannot be served -----------------------------------------------------
@pytest.mark.parametrize("words", [["up", "--demo"], ["up", "nim"], ["serve"]], ids=" ".join)
def test_a_port_that_is_taken_leaves_no_room_and_no_token_behind(
    words: list[str], taken: int, tmp_path: Path, capsys: Captured
) -> None:
    data = tmp_path / "data"
    assert main([*words, "--port", str(taken), "--bridge-port", "0", "--data", str(data)]) == 1
    assert f"cannot listen on 127.0.0.1:{taken}" in capsys.readouterr().err
    assert rooms_in(data) == []


def test_a_certificate_that_is_missing_leaves_no_room_behind(tmp_path: Path, capsys: Captured) -> None:
    data, cert = tmp_path / "data", str(tmp_path / "gone.pem")
    assert main(["up", "nim", "--port", "0", "--bridge-port", "0", "--data", str(data), "--tls-cert", cert]) == 1
    assert f"tls_cert: {cert} cannot be read (No such file or directory)" in capsys.readouterr().err
    assert rooms_in(data) == []


# -- a port that is taken and does not answer yet ------------------------------------------------
async def test_a_house_that_starts_refuses_connections_until_it_answers() -> None:
    settings = Settings(port=0)
    async with House.open(settings) as house:
        listener = bind(settings)
        with pytest.raises(ConnectionRefusedError):
            await asyncio.open_connection(*listener.getsockname())
        async with listening(house, listener) as url, httpx2.AsyncClient() as client:
            assert (await client.get(f"{url}/ready")).status_code == 200


async def test_of_two_houses_that_start_at_once_on_a_port_one_says_that_it_is_taken() -> None:
    first = bind(Settings(port=0))
    second = Settings(port=first.getsockname()[1])
    async with House.open(second) as house:
        with closing(first), closing(bind(second)) as late:
            first.listen()
            with pytest.raises(Conflict, match="cannot listen on"):
                await serve(house, listener=late)


# -- TLS files ------------------------------------------------------------------------------------
def test_an_error_of_tls_names_the_file_and_what_is_wrong_with_it(tmp_path: Path) -> None:
    cert, key = make_key(tmp_path, "one")
    other_cert, other_key = make_key(tmp_path, "two")
    _, locked = make_key(tmp_path, "three", "-passout", "pass:secret")
    text = tmp_path / "text.pem"
    text.write_text("no certificate")
    gone = str(tmp_path / "gone.key")
    cases = [
        (cert, gone, f"tls_key: {gone} cannot be read"),
        (cert, str(tmp_path), f"tls_key: {tmp_path} cannot be read (Is a directory)"),
        (str(text), key, f"tls_cert: {text} is not a certificate"),
        (cert, str(text), f"tls_key: {text} has no private key"),
        (cert, locked, f"tls_key: {locked} has no private key in PEM format without a passphrase"),
        (cert, other_key, f"tls_key: {other_key} is not the key of the certificate in {cert}"),
        (cert, "", f"tls_key: {cert} has no private key"),
        ("", key, "tls_key needs tls_cert"),
    ]
    for tls_cert, tls_key, says in cases:
        with pytest.raises(BadArgs) as refused:
            bind(Settings(port=0, tls_cert=tls_cert, tls_key=tls_key))
        assert says in refused.value.message
    bind(Settings(port=0, tls_cert=other_cert, tls_key=other_key)).close()


# -- addresses ------------------------------------------------------------------------------------
@pytest.mark.parametrize("host", ALL_INTERFACES)
def test_a_house_on_all_interfaces_is_shown_with_an_address_that_can_be_reached(host: str) -> None:
    shown = httpx2.URL(address(Settings(host=host), 8724))
    assert shown.port == 8724
    assert is_address(shown.host)
    assert shown.host not in ALL_INTERFACES
    assert httpx2.URL(Settings(host=host).url).host in ("127.0.0.1", "::1")


@pytest.mark.parametrize(
    ("settings", "shown"),
    [
        (Settings(host="::1"), "http://[::1]:99"),
        (Settings(tls_cert="x"), "https://127.0.0.1:99"),
        (Settings(host="0.0.0.0", public_url="https://play.example/"), "https://play.example"),
    ],
)
def test_the_address_is_the_public_one_or_that_of_the_listener(settings: Settings, shown: str) -> None:
    assert address(settings, 99) == shown


async def test_a_house_on_all_interfaces_answers_at_each_address_but_not_to_a_foreign_name() -> None:
    async with served(host="0.0.0.0") as den:
        port = den.url.rsplit(":", 1)[1]
        for host in {"127.0.0.1", outward_address("0.0.0.0")}:
            async with httpx2.AsyncClient(base_url=f"http://{host}:{port}") as client:
                assert (await client.get("/health")).status_code == 200
                own = {"origin": f"http://{host}:{port}"}
                assert (await client.get("/health", headers=own)).status_code == 200
        async with den.http() as client:
            for headers in (
                {"host": "evil.example"},
                {"origin": "http://198.51.100.7"},
                {"origin": "http://evil.example"},
            ):
                assert (await client.get("/health", headers=headers)).status_code == 403
    async with served() as den, den.http() as client:
        assert (await client.get("/health", headers={"host": "198.51.100.7"})).status_code == 403


def test_only_an_unencrypted_network_gives_a_warning() -> None:
    assert "without TLS" in (exposure(Settings(host="0.0.0.0")) or "")
    assert "without TLS" in (exposure(Settings(host="192.0.2.7", public_url="http://play.example")) or "")
    for safe in (
        Settings(),
        Settings(host="::1"),
        Settings(host="0.0.0.0", tls_cert="x"),
        Settings(host="0.0.0.0", public_url="https://play.example"),
    ):
        assert exposure(safe) is None


@pytest.mark.parametrize(
    ("holders", "url", "says"),
    [
        (
            "DNS:play.example.org",
            "https://127.0.0.1:8724",
            "the certificate is for play.example.org, so clients refuse",
        ),
        ("DNS:*.example.org", "https://example.org", "is for *.example.org"),
        ("DNS:*.example.org", "https://a.play.example.org", "is for *.example.org"),
        ("DNS:play.example.org", "https://play.example.org:8724", ""),
        ("DNS:*.example.org", "https://play.example.org", ""),
        ("IP:127.0.0.1", "https://127.0.0.1:8724", ""),
    ],
)
def test_links_that_the_certificate_is_not_for_give_a_warning(
    tmp_path: Path, holders: str, url: str, says: str
) -> None:
    make_certificate(tmp_path / "chain.pem", tmp_path / "key.pem", holders)
    warning = misnamed(Settings(tls_cert=str(tmp_path / "chain.pem")), url) or ""
    assert says in warning
    assert bool(warning) == bool(says)
    assert misnamed(Settings(), url) is None


async def test_the_public_address_is_told_to_clients_and_accepted_from_them() -> None:
    async with House.open(Settings(port=0, public_url="https://play.example/")) as house:
        ready: asyncio.Future[str] = asyncio.get_running_loop().create_future()
        listener = bind(house.settings)
        port = listener.getsockname()[1]
        serving = asyncio.ensure_future(serve(house, ready=ready.set_result, mcp=False, listener=listener))
        try:
            assert await ready == "https://play.example"
            async with httpx2.AsyncClient(base_url=f"http://127.0.0.1:{port}") as client:
                seen = {"host": "play.example", "origin": "https://play.example"}
                assert (await client.get("/health", headers=seen)).status_code == 200
                document = (await client.get("/openapi.json", headers=seen)).json()
                assert document["servers"] == [{"url": "https://play.example"}]
                assert (await client.get("/health", headers={"host": "other.example"})).status_code == 403
        finally:
            serving.cancel()
            await asyncio.gather(serving, return_exceptions=True)


# -- clients that hang up -------------------------------------------------------------------------
@pytest.mark.parametrize("path", ["/api/rooms/den/hide", "/api/whoami", "/mcp/den", "/mcp", "/"])
async def test_a_client_that_hangs_up_during_an_upload_is_not_logged(
    path: str, caplog: pytest.LogCaptureFixture
) -> None:
    from cohabit.faces.mcp.server import McpFace

    caplog.set_level(logging.WARNING)
    async with served() as den:
        caplog.clear()  # of the small seed of the room
        face = McpFace(den.house)
        app = make_app(den.house, mcp=face)
        messages: list[Message] = [
            {"type": "http.request", "body": b"{", "more_body": True},
            {"type": "http.disconnect"},
        ]

        async def receive() -> Message:
            return messages.pop(0) if len(messages) > 1 else messages[0]

        async def send(message: Message) -> None:
            pass

        headers = {"host": "127.0.0.1", "authorization": f"Bearer {den.tokens['ann']}", "content-length": "1000",
                   "content-type": "application/json", "accept": "application/json, text/event-stream"}  # fmt: skip
        scope = {
            "type": "http", "method": "POST", "path": path, "raw_path": path.encode(), "query_string": b"",
            "headers": [(name.encode(), value.encode()) for name, value in headers.items()], "root_path": "",
        }  # fmt: skip
        async with face.lifespan():
            await app(scope, receive, send)
    assert [record.getMessage() for record in caplog.records] == []
