"""The command line as a reader meets it: help, mistakes, what a verb imports."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from cohabit.errors import BadArgs, Unreachable
from cohabit.faces.cli import main
from cohabit.faces.cli.options import arguments, place_of
from cohabit.faces.cli.say import UsageError, clean, complain, in_one_line
from cohabit.faces.cli.token import parse_time
from cohabit.faces.cli.verbs import VERBS
from cohabit.house.settings import settings_table
from cohabit.house.store.identities import make_token

ROOT = Path(__file__).parents[2]
ESC = "\x1b"


@pytest.fixture(autouse=True)
def _nothing_from_outside(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    for name in list(os.environ):
        if name.startswith(("COHABIT_", "WORLDBOX_", "XDG_")):
            monkeypatch.delenv(name)
    monkeypatch.setenv("HOME", str(tmp_path))


def test_help_names_every_verb_in_one_line_each_and_their_summaries_in_one_column(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert main(["--help"]) == 0
    lines = capsys.readouterr().out.splitlines()
    columns = set()
    for verb in VERBS.values():
        found = [line for line in lines if line.split()[:1] == [verb.name] and line.endswith(verb.summary)]
        assert found, verb.name
        columns.add(len(found[0]) - len(verb.summary))
    assert len(columns) == 1


@pytest.mark.parametrize("verb", VERBS)
def test_each_verb_teaches_itself_with_examples(verb: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as done:
        main([verb, "--help"])
    text = capsys.readouterr().out
    assert done.value.code == 0
    assert f"usage: cohabit {verb}" in text
    assert f"cohabit {verb}" in text.split("examples:")[1]


@pytest.mark.parametrize("verb", ["up", "serve"])
def test_every_setting_of_the_table_is_an_option(verb: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main([verb, "--help"])
    text = capsys.readouterr().out
    for name, _, _ in settings_table():
        assert f"--{name.replace('_', '-')} " in text


@pytest.mark.parametrize(
    ("words", "heavy"),
    [
        ("[]", ["mcp", "uvicorn", "starlette", "rich", "cohabit.house.house", "asyncio"]),
        ("['worlds']", ["mcp", "uvicorn", "starlette", "cohabit.house.house"]),
        ("['token', 'make']", ["mcp", "uvicorn", "starlette", "cohabit.house.house"]),
        ("['rooms', '--data', '.']", ["mcp", "uvicorn", "starlette", "cohabit.house.house"]),
        ("['call', 'view', '--url', 'http://127.0.0.1:1', '--token', 't']", ["mcp", "uvicorn", "cohabit.house.house"]),
        ("['play', 'http://127.0.0.1:1/?room=r#t']", ["mcp", "uvicorn", "starlette", "cohabit.house.house"]),
    ],
)
def test_a_verb_imports_only_what_it_needs(words: str, heavy: list[str], tmp_path: Path) -> None:
    program = f"import sys; from cohabit.faces.cli import main; main({words}); print(*sys.modules, file=sys.stderr)"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True, cwd=tmp_path)
    loaded = done.stderr.split()
    assert "cohabit.faces.cli" in loaded
    assert not [name for name in heavy if name in loaded]


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (["wach"], "did you mean watch"),
        (["--loud"], "unknown option --loud"),
        (["call"], "COMMAND"),
        (["call", "view", "--rom", "x"], "--rom"),
        (["up", "--seed", "many"], "--seed"),
        (["up", "pvp", "--demo"], "either --demo or a SCENARIO"),
        (["up", "pvp", "--players", "a,b"], "--players"),
        (["token"], "new|list|rotate|revoke|make"),
        (["token", "new", "me", "--host", "--room", "r"], "leave out --room"),
        (["token", "new", "me", "--expires", "soon"], "30d"),
        (["call", "view", "nonsense", "--token", "t"], "name=value"),
        (["call", "view", "--url", "house", "--token", "t"], "http://"),
        (["check", "nim", "--in", "tictactoe"], "this is a world"),
    ],
)
def test_a_usage_error_prints_one_line_and_exits_with_code_2(
    words: list[str], says: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(words) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert err.startswith("cohabit: ")
    assert err.count("\n") == 1
    assert says in err


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (["call", "view", "--url", "http://127.0.0.1:1", "--token", "t"], "Start a house with `cohabit serve`"),
        (["watch", "demo", "--url", "http://127.0.0.1:1", "--token", "t"], "Start a house with `cohabit serve`"),
        (["call", "view"], "COHABIT_TOKEN"),
        (["up", "pvpp"], "Did you mean: pvp"),
        (["up", "--world", "nimm"], "Did you mean: nim"),
        (["up", "nim", "--players", "a,b,c"], "2 seats"),
        (["up", "nim", "--players", "a,a"], "names must be unique"),
        (["rooms"], "no house in"),
        (["replay", "demo"], "no house in"),
        (["replay", "./gone.jsonl"], "no such file"),
        (["verify"], "no house in"),
        (["serve", "--workers", "2", "--bridge-port", "8723"], "without --workers, or use --bridge-port 0"),
        (["serve", "--port", "many"], "port"),
        (["serve", "--log-level", "loud"], "log_level"),
    ],
)
def test_a_refusal_prints_one_line_and_exits_with_code_1(
    words: list[str], says: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.chdir(tmp_path)
    assert main(words) == 1
    out, err = capsys.readouterr()
    assert out == ""
    assert err.startswith("cohabit: ")
    assert err.count("\n") == 1
    assert says in err


def test_a_game_that_cannot_be_reached_is_not_answered_with_how_to_start_a_house() -> None:
    game = "cannot connect to the game's bridge (ConnectError); check that the game is running"
    assert in_one_line(Unreachable(game)) == f"[UNREACHABLE] {game}."
    assert "`cohabit serve`" in in_one_line(Unreachable("cannot connect to http://127.0.0.1:1: refused"))
    assert in_one_line(Unreachable("no answer"), {"UNREACHABLE": "Wait."}) == "[UNREACHABLE] no answer. Wait."


def test_a_house_whose_certificate_is_not_trusted_is_not_answered_with_how_to_start_one() -> None:
    wrong = "cannot connect to https://localhost:8443: [SSL: CERTIFICATE_VERIFY_FAILED] self-signed certificate"
    assert in_one_line(Unreachable(wrong)).endswith("set SSL_CERT_FILE to the certificate that signed it.")
    assert "cohabit serve" not in in_one_line(Unreachable(wrong))


def test_what_a_listed_world_is_ends_with_a_sentence(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["worlds"]) == 0
    listed = capsys.readouterr().out.split("\n\n")[0].splitlines()[1:]
    assert len(listed) > 5
    assert [line for line in listed if not line.endswith(".")] == []


def test_a_bug_of_ours_is_one_line_and_no_traceback(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("cohabit.faces.cli.lists.known_worlds", lambda: 1 / 0)
    assert main(["worlds"]) == 1
    err = capsys.readouterr().err
    assert "a bug in Cohabit: ZeroDivisionError" in err
    assert "Traceback" not in err


@pytest.mark.parametrize(("process", "stops"), [(1, True), (2, False)])
def test_sigterm_stops_the_first_process_of_a_container_while_it_starts(
    process: int, stops: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = signal.getsignal(signal.SIGTERM)
    monkeypatch.setattr(os, "getpid", lambda: process)
    try:
        assert main(["--version"]) == 0
        assert (signal.getsignal(signal.SIGTERM) == signal.default_int_handler) is stops
    finally:
        signal.signal(signal.SIGTERM, before)


def test_a_token_never_stands_in_a_message(capsys: pytest.CaptureFixture[str]) -> None:
    secret = make_token()
    assert main(["call", "view", f"--tokn={secret}"]) == 2
    complain(f"no {secret} here")
    assert secret not in capsys.readouterr().err


def test_an_error_says_what_to_do_next_once() -> None:
    assert in_one_line(Unreachable("cannot connect to http://127.0.0.1:1: no")).endswith("give its address with --url.")
    assert in_one_line(BadArgs("view needs a room; pass its id as room")).endswith("as room. (--room ROOM)")
    assert in_one_line(BadArgs("n: too many", did_you_mean=["m"])) == "[BAD_ARGS] n: too many. Did you mean: m?"


def test_text_by_others_cannot_control_the_terminal() -> None:
    assert clean(f"hi{ESC}[2J\rforged\nline\x07") == "hi·[2J·forged⏎line·"
    assert clean("one\ntwo\x1b", lines=True) == "one\ntwo·"
    assert clean("Grüße, 世界 …") == "Grüße, 世界 …"


def test_arguments_are_json_where_they_are_json() -> None:
    assert arguments(["n=2", "to=ares", 'may=["watch"]', 'text="42"', "empty=", "a=b=c"]) == {
        "n": 2, "to": "ares", "may": ["watch"], "text": "42", "empty": "", "a": "b=c",
    }  # fmt: skip
    assert arguments(['{"action": "take", "params": {"n": 1}}']) == {"action": "take", "params": {"n": 1}}


def test_a_time_is_a_number_and_a_unit() -> None:
    assert [parse_time(t) for t in ("90s", "45m", "12h", "30d", "4w")] == [
        90, 2_700, 43_200, 2_592_000, 2_419_200,
    ]  # fmt: skip
    for wrong in ("0d", "-1d", "30", "d", "1y", "9999999d"):
        with pytest.raises(UsageError):
            parse_time(wrong)


def test_a_link_says_where_who_and_which_room(monkeypatch: pytest.MonkeyPatch) -> None:
    from argparse import Namespace

    link = "http://127.0.0.1:9/?room=demo#TOKEN"
    assert place_of(Namespace(url=None, token=None, room=link)) == ("http://127.0.0.1:9", "TOKEN", "demo")
    assert place_of(Namespace(url=link, token=None, room=None)) == ("http://127.0.0.1:9", "TOKEN", "demo")
    assert place_of(Namespace(url="https://x.org/house", token="T", room="r")) == ("https://x.org/house", "T", "r")
    monkeypatch.setenv("COHABIT_URL", "http://there:1")
    monkeypatch.setenv("WORLDBOX_MCP_TOKEN", "older")
    assert place_of(Namespace(url=None, token=None, room="r")) == ("http://there:1", "older", "r")
    monkeypatch.setenv("COHABIT_TOKEN", "newer")
    assert place_of(Namespace(url=None, token=None)).token == "newer"
    monkeypatch.setenv("COHABIT_URL", link)
    assert place_of(Namespace(url=None, token=None, room="r")) == ("http://127.0.0.1:9", "newer", "r")
    monkeypatch.delenv("COHABIT_TOKEN")
    monkeypatch.delenv("WORLDBOX_MCP_TOKEN")
    assert place_of(Namespace(url=None, token=None, room=None)) == ("http://127.0.0.1:9", "TOKEN", "demo")


VERBS_BELOW = {"token": ("new", "list", "rotate", "revoke", "make"), "lab": ("run", "report", "export")}


def test_the_documentation_has_every_verb_and_option(capsys: pytest.CaptureFixture[str]) -> None:
    page = (ROOT / "docs/cli-reference.md").read_text(encoding="utf-8")
    settings = {f"--{name.replace('_', '-')}" for name, _, _ in settings_table()}
    for verb in VERBS:
        section = page.split(f"\n## {verb}\n")
        assert len(section) == 2, f"docs/cli-reference.md has no section {verb}"
        text = section[1].split("\n## ")[0]
        shown = _options_of([verb], capsys)
        for below in VERBS_BELOW.get(verb, ()):
            assert f"{verb} {below}" in text
            shown |= _options_of([verb, below], capsys)
        for option in shown - settings - {"--help"} - {"--url", "--token", "--data"}:
            assert f"`{option}" in text, f"{verb}: {option} is missing"


def _options_of(words: list[str], capsys: pytest.CaptureFixture[str]) -> set[str]:
    with pytest.raises(SystemExit):
        main([*words, "--help"])
    lines = capsys.readouterr().out.split("examples:")[0].splitlines()
    return {word.rstrip(",:") for line in lines if line.startswith("  -") for word in line.split()
            if word.startswith("--")}  # fmt: skip


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (["plya"], "cohabit: unknown verb 'plya'; did you mean play? `cohabit --help` lists them all."),
        (["xyzzyq"], "cohabit: unknown verb 'xyzzyq'. `cohabit --help` lists them all."),
        (["--xyzzyq"], "cohabit: unknown option --xyzzyq; `cohabit --help` lists the verbs."),
        (
            ["rooms", "--x"],
            "cohabit: rooms: unrecognized arguments: --x; `cohabit rooms --help` shows its options.",
        ),
        (
            ["up", "--prot", "9"],
            "cohabit: up: unrecognized arguments: --prot; did you mean --port? `cohabit up --help` shows its options.",
        ),
    ],
)
def test_a_mistake_is_answered_in_whole_sentences(
    words: list[str], says: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(words) == 2
    assert capsys.readouterr().err == says + "\n"


def test_an_unknown_scenario_is_answered_with_each_name_once(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["up", "tictacto"]) == 1
    told = capsys.readouterr().err
    assert told.endswith(". Did you mean: tictactoe?\n")
    assert told.count("statecraft") == 1


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("{", "is not valid JSON"),
        ('{"agents": []}', "at least one is required"),
        ('{"agents": [{"id": "a", "rol": "god"}]}', "rol"),
        ('{"agents": [{"id": "a", "role": "good"}]}', "agents[0]"),
        ('{"agents": [{"id": "a", "token": "1234"}]}', "too weak"),
        ('{"world": "nim", "agents": [{"id": "a", "brain": "galaxy"}]}', "unknown brain"),
    ],
)
def test_a_broken_file_opens_nothing_and_never_becomes_a_god(
    text: str, says: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "agents.json").write_text(text, encoding="utf-8")
    assert main(["up", "--data", "house", "--port", "0", "--bridge-port", "0"]) == 1
    said = capsys.readouterr()
    assert said.out == ""
    assert said.err.count("\n") == 1
    assert "agents.json" in said.err
    assert says in said.err
    assert not (tmp_path / "house").exists()
