"""The MCP server: framing, both generations of the protocol, order, cancelling and ending, with simple test tools."""

import json
import os
import threading
from collections.abc import Iterator
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cohabit import __version__
from cohabit.errors import BadArgs, UnknownCommand
from cohabit.workspace.clone.cancellation import CANCELLATION
from cohabit.workspace.mcp import server as module
from cohabit.workspace.mcp.protocol import HANDSHAKE, META, Protocol
from cohabit.workspace.mcp.server import MAX_MESSAGE_BYTES, Server, lines

ENVELOPE = {f"{META}protocolVersion": "2026-07-28", f"{META}clientCapabilities": {}}


class StandIn:
    """A session with three tools: `echo` answers, `wait` waits until it is released, `fail` raises an error."""

    def __init__(self) -> None:
        self.closed = False
        self.client: str | None = None
        self.seen: list[tuple[str | None, str, Any]] = []
        self.running = threading.Event()
        self.go = threading.Event()

    def close(self) -> None:
        self.closed = True

    def call(self, name: str, args: Any) -> dict[str, Any]:
        self.seen.append((self.client, name, args))
        if name == "echo":
            return {"echo": args}
        if name == "wait":
            self.running.set()
            assert self.go.wait(100)
            return {"waited": True}
        if name == "fail":
            raise BadArgs("not like this", hint="like that")
        if name == "conflict":
            return {"error": "conflict", "files": ["a.md"]}
        if name == "bug":
            raise ZeroDivisionError("/home/ann/secret")
        if name == "odd":
            return {"name": "caf\udce9"}
        raise UnknownCommand(f"there is no tool {name!r}")


class Wired:
    """A server on two pipes."""

    def __init__(self) -> None:
        self.session = StandIn()
        there, self._write = os.pipe()
        back, out = os.pipe()
        self.server = Server(lambda: self.session, Protocol(), out)  # type: ignore[arg-type]
        self._answers = os.fdopen(back, "rb")
        self._ends = [there, out]
        self.thread = threading.Thread(target=self._serve, args=(there, out))
        self.thread.start()

    def _serve(self, there: int, out: int) -> None:
        self.server.serve(there)
        os.close(there)
        os.close(out)

    def raw(self, data: bytes) -> None:
        while data:
            data = data[os.write(self._write, data) :]

    def send(self, *messages: Any) -> None:
        self.raw(b"".join(json.dumps(m).encode() + b"\n" for m in messages))

    def ask(self, number: Any, method: str, params: Any = None) -> None:
        self.send({"jsonrpc": "2.0", "id": number, "method": method, **({} if params is None else {"params": params})})

    def call(self, number: Any, tool: str, args: Any = None, meta: Any = None) -> None:
        self.ask(number, "tools/call", {"name": tool, "arguments": args or {}, **({"_meta": meta} if meta else {})})

    def read(self) -> Any:
        line = self._answers.readline()
        assert line.endswith(b"\n"), "the server has ended"
        return json.loads(line)

    def shut(self) -> None:
        if self._write >= 0:
            os.close(self._write)
            self._write = -1

    def end(self) -> list[Any]:
        """Close the server's stdin; returns what it still answers."""
        self.shut()
        rest = [json.loads(line) for line in self._answers]
        self.thread.join(30)
        assert not self.thread.is_alive()
        return rest

    def shake_hands(self, version: str = "2025-11-25", name: str = "tester") -> Any:
        info = {"name": name, "version": "1"}
        self.ask(0, "initialize", {"protocolVersion": version, "capabilities": {}, "clientInfo": info})
        answer = self.read()
        self.send({"jsonrpc": "2.0", "method": "notifications/initialized"})
        return answer["result"]


@pytest.fixture
def wired(monkeypatch: pytest.MonkeyPatch) -> Iterator[Wired]:
    monkeypatch.setattr(module, "log", lambda text: None)
    one = Wired()
    yield one
    one.session.go.set()
    one.end()
    one._answers.close()


def text_of(answer: Any) -> Any:
    (block,) = answer["result"]["content"]
    assert block["type"] == "text"
    return json.loads(block["text"])


# -- both eras --------------------------------------------------------------------------------------
@pytest.mark.parametrize("version", HANDSHAKE)
def test_every_version_with_a_handshake_is_served_as_asked_for(wired: Wired, version: str) -> None:
    result = wired.shake_hands(version)
    assert result["protocolVersion"] == version
    assert result["serverInfo"] == {"name": "cohabit-workspace", "version": __version__}
    assert result["capabilities"] == {"tools": {}}
    assert len(result["instructions"].splitlines()) == 5
    wired.call(1, "echo", {"a": 1})
    assert wired.read() == {
        "jsonrpc": "2.0",
        "id": 1,
        "result": {"content": [{"type": "text", "text": '{\n  "echo": {\n    "a": 1\n  }\n}'}]},
    }


def test_an_unknown_version_is_offered_the_newest_with_a_handshake(wired: Wired) -> None:
    assert wired.shake_hands("1999-01-01")["protocolVersion"] == "2025-11-25"


def test_a_stateless_client_discovers_and_calls_without_a_handshake(wired: Wired) -> None:
    wired.ask(1, "server/discover", {"_meta": ENVELOPE})
    found = wired.read()["result"]
    assert found["supportedVersions"] == ["2026-07-28"]
    assert found["resultType"] == "complete"
    assert (found["ttlMs"] > 0, found["cacheScope"]) == (True, "public")
    wired.call(2, "echo", {}, {**ENVELOPE, f"{META}clientInfo": {"name": "stateless-one", "version": "2"}})
    answer = wired.read()
    assert text_of(answer) == {"echo": {}}
    assert answer["result"]["resultType"] == "complete"
    assert answer["result"]["_meta"][f"{META}serverInfo"]["name"] == "cohabit-workspace"
    assert wired.session.seen == [("stateless-one", "echo", {})]


@pytest.mark.parametrize(
    ("meta", "code"),
    [
        ({f"{META}protocolVersion": "2026-07-28"}, -32602),
        ({**ENVELOPE, f"{META}protocolVersion": 7}, -32602),
        ({**ENVELOPE, f"{META}protocolVersion": "2031-01-01"}, -32022),
    ],
)
def test_an_invalid_meta_is_refused_with_the_code_of_the_protocol(wired: Wired, meta: Any, code: int) -> None:
    wired.ask(1, "tools/list", {"_meta": meta})
    error = wired.read()["error"]
    assert error["code"] == code
    if code == -32022:
        assert error["data"] == {"supported": ["2026-07-28"], "requested": "2031-01-01"}


def test_ping_exists_only_with_a_handshake(wired: Wired) -> None:
    wired.ask(1, "ping")
    assert wired.read() == {"jsonrpc": "2.0", "id": 1, "result": {}}
    wired.ask(2, "ping", {"_meta": ENVELOPE})
    assert wired.read()["error"]["code"] == -32601


def test_the_name_of_the_client_reaches_the_session_before_the_first_call(wired: Wired) -> None:
    wired.shake_hands(name="Claude Code 2.x")
    wired.call(1, "echo")
    wired.read()
    assert wired.session.seen == [("Claude Code 2.x", "echo", {})]


# -- errors -----------------------------------------------------------------------------------------
def test_an_unknown_method_is_an_error_of_json_rpc(wired: Wired) -> None:
    wired.ask("x", "resources/list")
    answer = wired.read()
    assert (answer["id"], answer["error"]["code"]) == ("x", -32601)


@pytest.mark.parametrize("line", [b"{", b"nonsense", b"\xff\xfe", b"[" * 5000, b'{"a":}'])
def test_a_line_that_is_not_json_is_a_parse_error_and_the_next_one_is_served(wired: Wired, line: bytes) -> None:
    wired.raw(line + b"\n")
    answer = wired.read()
    assert (answer["id"], answer["error"]["code"]) == (None, -32700)
    wired.ask(1, "ping")
    assert wired.read()["id"] == 1


@pytest.mark.parametrize(
    ("message", "number"),
    [
        ("a string", None),
        (7, None),
        ({"jsonrpc": "1.0", "id": 3, "method": "ping"}, 3),
        ({"jsonrpc": "2.0", "id": None, "method": "ping"}, None),
        ({"jsonrpc": "2.0", "id": True, "method": "ping"}, None),
        ({"jsonrpc": "2.0", "id": {}, "method": "ping"}, None),
        ({"jsonrpc": "2.0", "id": 4, "method": 9}, 4),
        ({"jsonrpc": "2.0", "id": 5, "method": "ping", "params": [1]}, 5),
        ({"jsonrpc": "2.0", "id": 6}, 6),
        ({}, None),
    ],
)
def test_json_that_is_not_a_request_is_refused(wired: Wired, message: Any, number: Any) -> None:
    wired.send(message)
    answer = wired.read()
    assert (answer["id"], answer["error"]["code"]) == (number, -32600)


def test_an_error_of_a_tool_is_a_result_marked_as_an_error(wired: Wired) -> None:
    wired.call(1, "fail")
    answer = wired.read()
    assert answer["result"]["isError"] is True
    assert text_of(answer) == {"error": "not like this", "details": {"code": "BAD_ARGS", "hint": "like that"}}


def test_an_unknown_tool_and_arguments_that_are_not_an_object_are_results_too(wired: Wired) -> None:
    wired.call(1, "nothing_of_the_sort")
    unknown = wired.read()
    wired.ask(2, "tools/call", {"name": "echo", "arguments": [1]})
    wrong = wired.read()
    assert unknown["result"]["isError"] is wrong["result"]["isError"] is True
    assert text_of(unknown)["details"]["code"] == "UNKNOWN_COMMAND"
    assert text_of(wrong)["details"]["code"] == "BAD_ARGS"


def test_a_call_without_a_name_is_an_error_of_the_protocol(wired: Wired) -> None:
    wired.ask(1, "tools/call", {"arguments": {}})
    assert wired.read()["error"]["code"] == -32602


def test_a_conflict_is_an_answer_and_not_an_error(wired: Wired) -> None:
    wired.call(1, "conflict")
    answer = wired.read()
    assert "isError" not in answer["result"]
    assert text_of(answer)["error"] == "conflict"


def test_an_internal_error_is_reported_without_its_message_and_the_server_continues(wired: Wired) -> None:
    wired.call(1, "bug")
    answer = wired.read()
    assert text_of(answer)["details"]["code"] == "INTERNAL"
    assert "secret" not in json.dumps(answer)
    wired.call(2, "echo")
    assert wired.read()["id"] == 2


def test_a_name_that_is_not_utf_8_does_not_end_the_server(wired: Wired) -> None:
    wired.call(1, "odd")
    assert text_of(wired.read()) == {"name": "caf\udce9"}


# -- framing ----------------------------------------------------------------------------------------
def test_a_line_that_is_too_long_is_refused_and_the_next_one_is_served(wired: Wired) -> None:
    def flood() -> None:
        wired.raw(b'{"jsonrpc":"2.0","id":1,"method":"ping","x":"' + b"x" * MAX_MESSAGE_BYTES + b'"}\n')
        wired.ask(2, "ping")

    writer = threading.Thread(target=flood)
    writer.start()
    answer = wired.read()
    assert (answer["id"], answer["error"]["code"]) == (None, -32600)
    assert wired.read()["id"] == 2
    writer.join()


def test_blank_lines_are_ignored_and_a_last_line_needs_no_newline(wired: Wired) -> None:
    wired.raw(b'\n  \r\n{"jsonrpc":"2.0","id":1,"method":"ping"}\r\n{"jsonrpc":"2.0","id":2,"method":"ping"}')
    assert [answer["id"] for answer in [wired.read(), *wired.end()]] == [1, 2]


def test_a_message_may_come_in_pieces(wired: Wired) -> None:
    for byte in b'{"jsonrpc":"2.0","id":"\xc3\xa4","method":"ping"}\n':
        wired.raw(bytes([byte]))
    assert wired.read()["id"] == "ä"


def test_notifications_and_answers_get_no_answer(wired: Wired) -> None:
    wired.send(
        {"jsonrpc": "2.0", "method": "notifications/roots/list_changed"},
        {"jsonrpc": "2.0", "method": "tools/call", "params": {"name": "echo"}},
        {"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 99}},
        {"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": []}},
        {"jsonrpc": "2.0", "method": "notifications/cancelled"},
        {"jsonrpc": "2.0", "id": 5, "result": {}},
    )
    wired.ask(1, "ping")
    assert wired.read()["id"] == 1
    assert wired.session.seen == []


WORDS = st.sampled_from(
    [
        "2.0",
        "ping",
        "initialize",
        "tools/call",
        "tools/list",
        "notifications/cancelled",
        "server/discover",
        *ENVELOPE,
        "2026-07-28",
    ]
)
KEYS = st.sampled_from(
    ["jsonrpc", "id", "method", "params", "_meta", "name", "arguments", "requestId", "result", "clientInfo"]
)
VALUES: st.SearchStrategy[Any] = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-9, 9)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(max_size=3)
    | WORDS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(KEYS | WORDS, inner, max_size=6),
    max_leaves=12,
)
REQUESTS = st.fixed_dictionaries({"jsonrpc": st.just("2.0"), "id": VALUES, "method": WORDS, "params": VALUES})


@given(VALUES | REQUESTS | st.lists(VALUES | REQUESTS, max_size=3), st.sampled_from(HANDSHAKE))
def test_no_message_ends_the_server_and_none_is_answered_twice(message: Any, version: str) -> None:
    protocol = Protocol()
    protocol.version = version
    there, out = os.pipe()
    server, sent = Server(StandIn, protocol, out), []  # type: ignore[arg-type]
    server._send = sent.append  # type: ignore[method-assign]
    server._receive(json.dumps(message).encode())
    for fd in (there, out, server.wake, server._woken):
        os.close(fd)
    assert len(sent) <= 1
    msgspec.json.encode(sent)


@given(
    st.lists(st.binary(max_size=5).map(lambda some: some.replace(b"\n", b"")), max_size=6),
    st.integers(1, 7),
    st.booleans(),
)
def test_lines_are_complete_for_any_chunks(wanted: list[bytes], size: int, ended: bool) -> None:
    data = b"\n".join(wanted) + (b"\n" if ended else b"")
    (there, write), (woken, wake) = os.pipe(), os.pipe()
    found, got = [], lines(there, woken)
    for start in range(0, len(data), size):
        os.write(write, data[start : start + size])
        found += [
            next(got)
            for _ in range(sum(bool(line.strip()) for line in data[: start + size].split(b"\n")[:-1]) - len(found))
        ]
    os.close(write)
    found += got
    for fd in (there, woken, wake):
        os.close(fd)
    assert found == [line for line in wanted if line.strip()]


# -- batches ----------------------------------------------------------------------------------------
def request(number: Any, method: str, **params: Any) -> dict[str, Any]:
    return {"jsonrpc": "2.0", "id": number, "method": method, "params": params}


def test_a_batch_is_answered_as_one_if_the_version_has_batches(wired: Wired) -> None:
    wired.shake_hands("2025-03-26")
    wired.send(
        [
            request(1, "tools/call", name="echo"),
            {"jsonrpc": "2.0", "method": "notifications/progress"},
            request(2, "ping"),
            request(3, "initialize"),
            17,
        ]
    )
    answers = wired.read()
    assert {answer["id"]: answer.get("error", {}).get("code") for answer in answers} == {
        1: None,
        2: None,
        3: -32600,
        None: -32600,
    }


def test_a_batch_of_notifications_gets_no_answer(wired: Wired) -> None:
    wired.shake_hands("2025-03-26")
    wired.send([{"jsonrpc": "2.0", "method": "notifications/progress"}])
    wired.ask(1, "ping")
    assert wired.read()["id"] == 1


@pytest.mark.parametrize(("version", "batch"), [("2025-06-18", [request(1, "ping")]), ("2025-03-26", [])])
def test_other_batches_are_refused(wired: Wired, version: str, batch: Any) -> None:
    wired.shake_hands(version)
    wired.send(batch)
    answer = wired.read()
    assert (answer["id"], answer["error"]["code"]) == (None, -32600)


# -- order, cancelling, ending ----------------------------------------------------------------------
def test_calls_run_one_after_the_other_in_order_while_a_ping_is_answered(wired: Wired) -> None:
    wired.call(1, "wait")
    for number in range(2, 6):
        wired.call(number, "echo", {"n": number})
    assert wired.session.running.wait(30)
    wired.ask("ping", "ping")
    assert wired.read()["id"] == "ping"
    assert [name for _, name, _ in wired.session.seen] == ["wait"]
    wired.session.go.set()
    assert [wired.read()["id"] for _ in range(5)] == [1, 2, 3, 4, 5]


def cancel(number: Any) -> dict[str, Any]:
    return {"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": number}}


def test_a_cancelled_call_is_not_answered_and_a_waiting_one_is_not_begun(wired: Wired) -> None:
    wired.call(1, "wait")
    assert wired.session.running.wait(30)
    wired.call("1", "echo")
    wired.call(2, "fail")
    wired.send(cancel(1), cancel(2))
    wired.ask("ping", "ping")
    assert wired.read()["id"] == "ping"
    wired.session.go.set()
    assert wired.read()["id"] == "1"
    assert [name for _, name, _ in wired.session.seen] == ["wait", "echo"]


def test_a_cancelled_call_is_missing_from_its_batch(wired: Wired) -> None:
    wired.shake_hands("2025-03-26")
    wired.send([request(1, "tools/call", name="wait"), request(2, "tools/call", name="echo")])
    assert wired.session.running.wait(30)
    wired.send(cancel(1))
    wired.ask("ping", "ping")
    wired.read()
    wired.session.go.set()
    assert [answer["id"] for answer in wired.read()] == [2]


def test_requests_before_the_end_of_stdin_are_answered(wired: Wired) -> None:
    wired.call(1, "wait")
    wired.call(2, "echo")
    assert wired.session.running.wait(30)
    wired.session.go.set()
    assert [answer["id"] for answer in wired.end()] == [1, 2]
    assert wired.session.closed


def test_stopping_lets_the_running_call_finish_and_starts_no_other(wired: Wired) -> None:
    wired.call(1, "wait")
    wired.call(2, "echo")
    assert wired.session.running.wait(30)
    wired.server.stop()
    wired.session.go.set()
    assert wired.read()["id"] == 1
    wired.thread.join(30)
    assert not wired.thread.is_alive()
    assert [name for _, name, _ in wired.session.seen] == ["wait"]


@pytest.mark.parametrize("signalled", [True, False])
def test_a_signal_cancels_a_network_command_and_the_end_of_stdin_does_not(
    wired: Wired, monkeypatch: pytest.MonkeyPatch, signalled: bool
) -> None:
    monkeypatch.setattr(module, "STOP_SECONDS", 0.0)

    def call(name: str, args: Any) -> dict[str, Any]:
        cancellation = CANCELLATION.get()
        assert cancellation is not None
        with cancellation.on_cancel(wired.session.go.set):
            wired.session.running.set()
            assert wired.session.go.wait(100)
        return {"cancelled": cancellation.cancelled}

    monkeypatch.setattr(wired.session, "call", call)
    wired.call(1, "fetch")
    assert wired.session.running.wait(30)
    if signalled:
        wired.server.stop()
    else:
        wired.shut()
        wired.session.go.set()  # the remote answers after all
    (answer,) = wired.end()
    assert text_of(answer) == {"cancelled": signalled}


def test_a_client_that_stops_reading_ends_the_server_quietly() -> None:
    there, write = os.pipe()
    back, out = os.pipe()
    server = Server(StandIn, Protocol(), out)  # type: ignore[arg-type]
    os.close(back)
    thread = threading.Thread(target=server.serve, args=(there,))
    thread.start()
    os.write(write, b'{"jsonrpc":"2.0","id":1,"method":"ping"}\n')
    thread.join(30)
    assert not thread.is_alive()
    for fd in (there, write, out):
        os.close(fd)


def test_a_log_line_on_stderr_is_one_line(capsys: pytest.CaptureFixture[str]) -> None:
    module.log("client: evil\n\x1b[31m name " + "x" * 500)
    said = capsys.readouterr().err
    assert said.startswith("client: evil[31m name xxx")
    assert said.count("\n") == 1
    assert len(said) == 201


def test_a_closed_stderr_causes_no_error(monkeypatch: pytest.MonkeyPatch) -> None:
    tried = []

    class Closed:
        def write(self, text: str) -> int:
            tried.append(text)
            raise BrokenPipeError

    monkeypatch.setattr("sys.stderr", Closed())
    module.log("nobody hears this")
    monkeypatch.setattr("sys.stderr", None)
    module.log("nor this")
    assert tried == ["nobody hears this\n"]


@pytest.mark.filterwarnings("ignore::pytest.PytestUnhandledThreadExceptionWarning")
def test_a_server_that_cannot_open_its_session_ends(wired: Wired) -> None:
    def enter() -> Any:
        raise OSError("no home")

    wired.server._open_session = enter
    wired.call(1, "echo")
    wired.thread.join(30)
    assert not wired.thread.is_alive()


def test_a_lone_surrogate_is_answered_by_its_id(wired: Wired) -> None:
    wired.shake_hands()
    wired.raw(
        b'{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"echo","arguments":{"text":"x\\ud800"}}}\n'
    )
    assert wired.read()["id"] == 7
    wired.raw(b'{"jsonrpc":"2.0","id":"\\ud800","method":"nothing/\\udc00"}\n')
    assert wired.read()["error"]["code"] == -32601
    wired.raw(b'{"jsonrpc":"2.0","id":8,"method":"ping","params":{"x":NaN}}\n')
    assert wired.read()["error"]["code"] == -32700
