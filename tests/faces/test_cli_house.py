"""The real `cohabit`, in processes of its own: it starts, is played, stops at Ctrl-C and is resumed.

The first test starts the installed program, and `tests/faces/mcp/test_stdio.py` starts `cohabit mcp`. The others start
copies of a process that has imported it; see `forks`.
"""

from __future__ import annotations

import json
import os
import re
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from pathlib import Path

from tests.forks import command as copy

COHABIT = str(Path(sys.executable).with_name("cohabit"))
MOVES = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]|[\r\b]")
"""What moves the cursor or changes the style."""
READY = re.compile(r"The house is open: (\S+)")


def environment(home: Path, more: Mapping[str, str] | None = None) -> dict[str, str]:
    """Nothing of the one who runs the tests reaches the house."""
    kept = {k: v for k, v in os.environ.items() if not k.startswith(("COHABIT_", "WORLDBOX_", "XDG_"))}
    return {**kept, "HOME": str(home), "PYTHONUNBUFFERED": "1", "COHABIT_BRIDGE_PORT": "0", **(more or {})}


def cohabit(
    *words: str,
    home: Path,
    typed: str = "",
    env: Mapping[str, str] | None = None,
    cwd: Path | None = None,
    program: Sequence[str] = (),
) -> subprocess.CompletedProcess[str]:
    """One verb, to its end."""
    return subprocess.run(
        [*(program or copy()), *words], input=typed, capture_output=True, text=True, timeout=200, check=False,
        env=environment(home, env), cwd=cwd or home,
    )  # fmt: skip


class Running:
    """A house that listens: what it greeted with, and where it is."""

    def __init__(self, process: subprocess.Popen[str]) -> None:
        self.process = process
        self.greeting: list[str] = []
        self.url = ""
        assert process.stdout is not None
        for line in process.stdout:
            self.greeting.append(line.rstrip("\n"))
            if found := READY.search(line):
                self.url = found[1]
                break

    @property
    def text(self) -> str:
        return "\n".join(self.greeting)

    def token(self, who: str) -> str:
        """The token that the greeting shows for somebody."""
        found = re.search(rf"^{re.escape(who)} .* (\w{{48}})$", self.text, re.MULTILINE)
        assert found is not None, self.text
        return found[1]

    def says(self, pattern: str) -> bool:
        """Read on until a line has this in it."""
        assert self.process.stdout is not None
        return any(re.search(pattern, line) for line in self.process.stdout)

    def stop(self, number: int = signal.SIGINT) -> tuple[int, str, str]:
        """Press Ctrl-C; the exit code and the last words."""
        self.process.send_signal(number)
        out, err = self.process.communicate(timeout=120)
        return self.process.returncode, out, err


@contextmanager
def running(
    *words: str, home: Path, cwd: Path | None = None, program: Sequence[str] = (), links: bool = True
) -> Iterator[Running]:
    """``links``: have `cohabit up` print the tokens of all members."""
    more = ["--links"] if links and words[0] == "up" else []
    process = subprocess.Popen(
        [*(program or copy()), *words, *more, "--port", "0"], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        env=environment(home), cwd=cwd or home,
    )  # fmt: skip
    try:
        house = Running(process)
        if not house.url:
            _, err = process.communicate(timeout=120)
            raise AssertionError(f"it did not start: {house.text}\n{err}")
        yield house
    finally:
        if process.poll() is None:
            process.kill()
        process.communicate()


AGENTS = {
    "world": "nim", "scenario": "sandbox", "config": {"stones": 8},
    "agents": [
        {"id": "ann", "role": "player", "claim": "auto:0"}, {"id": "bob", "role": "player", "claim": "auto:1"},
    ],
}  # fmt: skip


def write_agents(folder: Path, **more: object) -> Path:
    path = folder / "agents.json"
    path.write_text(json.dumps({**AGENTS, **more}), encoding="utf-8")
    return path


def test_a_house_starts_is_played_stops_and_is_resumed(tmp_path: Path) -> None:
    write_agents(tmp_path)
    with running("up", "agents.json", home=tmp_path, program=[COHABIT]) as house:
        ann, bob = house.token("ann"), house.token("bob")
        assert f"{house.url}/?room=agents#{ann}" in house.text
        assert f"claude mcp add cohabit-ann --transport http {house.url}/mcp/agents " in house.text
        assert f'--header "Authorization: Bearer {ann}"' in house.text
        snippet = json.loads(next(line for line in house.greeting if "mcpServers" in line))
        assert snippet["mcpServers"]["cohabit-ann"]["url"] == f"{house.url}/mcp/agents"
        assert f"COHABIT_TOKEN={ann} cohabit mcp --url {house.url} --room agents" in house.text
        done = cohabit(
            "call", "take", "n=3", "--url", house.url, home=tmp_path, env={"COHABIT_TOKEN": ann}, program=[COHABIT]
        )
        assert (done.returncode, json.loads(done.stdout)["message"]) == (0, "You took 3; 5 are left.")
        assert house.says("first takes 3")
        code, out, err = house.stop()
        assert (code, err) == (0, "")
        assert out.endswith("Stopped. Start it again to resume.\n")
    with running("up", "agents.json", home=tmp_path, program=[COHABIT]) as house:
        assert "resumed, game 1" in house.text
        assert ann not in house.text
        assert "cohabit token rotate ann --room agents" in house.text
        done = cohabit("call", "heap", "--url", house.url, "--token", bob, home=tmp_path, program=[COHABIT])
        assert (done.returncode, done.stdout) == (0, "5\n")
        code, _, _ = house.stop(signal.SIGTERM)
        assert code == 0


def test_the_demo_plays_by_itself_and_somebody_can_take_a_seat(tmp_path: Path) -> None:
    with running("up", "--demo", "--data", "house", home=tmp_path) as house:
        assert "steward" in house.text
        assert house.says(r"bran \(warlord\) +\d+ percent of the people of \w+ will be under arms")
        link = f"{house.url}/?room=demo#{house.token('cleo')}"
        done = cohabit("play", link, home=tmp_path, typed="/help\nsteal n=1\n/bogus\n/say hello\n/quit\n")
        assert done.returncode == 0, done.stderr
        assert "You are cleo (player), seat 3, in the room demo (kingdoms)." in done.stdout
        assert "unknown input /bogus" in done.stderr
        assert "[UNKNOWN_COMMAND]" in done.stderr
        assert "PERMISSION_DENIED" not in done.stderr
        assert "Sent to host, ada, bran, chronicler, spectator." in done.stdout
        assert house.says("cleo is here")
        listed = cohabit("rooms", "--url", link, home=tmp_path)
        assert listed.stdout.splitlines()[1].split()[:3] == ["demo", "kingdoms", "demo"]
        assert house.stop()[0] == 0
    assert cohabit("verify", "--data", "house", home=tmp_path).returncode == 0


def test_what_up_prints_first_is_a_link_to_watch_and_it_is_short(tmp_path: Path) -> None:
    for said in ("(new)", "(resumed, game "):
        with running("up", "--demo", "--data", "house", home=tmp_path, links=False) as house:
            assert len(house.text.splitlines()) <= 8
            assert said in house.text
            assert "cohabit links demo --renew NAME --data house" in house.text
            if said == "(new)":
                first = house.text.splitlines()[0]
                assert first.startswith("Watch here:")
                assert f"{house.url}/?room=demo#" in first
                assert "Play as ada:" in house.text
            assert house.stop()[0] == 0


def test_the_choices_stay_after_a_refused_move(tmp_path: Path) -> None:
    write_agents(tmp_path)
    with running("up", "agents.json", home=tmp_path) as house:
        link = f"{house.url}/?room=agents#{house.token('ann')}"
        done = cohabit("play", link, home=tmp_path, typed="take n=9\n7\n3\n/quit\n")
        assert "[BAD_ARGS]" in done.stderr
        assert done.stderr.splitlines()[-1] == "cohabit: choose 1 to 3."
        assert done.stdout.count('  3  take {"n":3}') == 2
        assert "You took 3; 5 are left." in done.stdout


def test_what_happens_is_printed_above_what_is_being_typed(tmp_path: Path) -> None:
    write_agents(tmp_path)
    person, side = os.openpty()
    with running("up", "agents.json", home=tmp_path) as house:
        playing = subprocess.Popen(
            [*copy(), "play", f"{house.url}/?room=agents#{house.token('ann')}"], stdin=side, stdout=side, stderr=side,
            env=environment(tmp_path, {"TERM": "xterm", "NO_COLOR": "1", "PROMPT_TOOLKIT_NO_CPR": "1"}), cwd=tmp_path,
        )  # fmt: skip
        os.close(side)
        said = ""

        def until(*shown: str) -> None:
            """Read until the terminal has shown all of this, and ends with the line that is being typed."""
            nonlocal said
            while not all(re.search(rf"{part}\s*$", MOVES.sub("", said), re.DOTALL) for part in shown):
                said += os.read(person, 4096).decode(errors="replace")

        try:
            until(">")  # whether ann's own arrival comes before her subscription is a matter of timing
            os.write(person, b"/sa")
            until(r">\s*/sa")
            words = ("send_message", "to=ann", "content=hello", "--url", house.url)
            cohabit("call", *words, home=tmp_path, env={"COHABIT_TOKEN": house.token("bob")})
            until(r"to ann: hello\s.*>\s*/sa", r"bob connected\s.*>\s*/sa")
            playing.send_signal(signal.SIGINT)
            assert playing.wait(timeout=120) == 0
            assert "Traceback" not in said + os.read(person, 4096).decode(errors="replace")
        finally:
            playing.kill()
            playing.wait()
            os.close(person)


def test_without_a_file_one_legacy_token_is_made_on_the_first_start(tmp_path: Path) -> None:
    with running("up", home=tmp_path) as house:
        token = house.token("legacy")
        done = cohabit("call", "session_info", "--url", house.url, "--token", token, home=tmp_path)
        info = json.loads(done.stdout)
        assert (info["legacy_mode"], info["scenario"], info["agent_count"]) == (True, "sandbox", 1)
        assert house.stop()[0] == 0
    with running("up", home=tmp_path) as house:
        assert token not in house.text
        assert "cohabit token rotate legacy --room default" in house.text


def test_tokens_of_the_file_are_the_tokens_of_the_room(tmp_path: Path) -> None:
    secret = "Xq7Lm2Rv9Tb4Nc8Wd1Zk6Hs3Pf5Jg0Ya"
    agents = [{"id": "ann", "role": "player", "claim": "auto:0", "token": secret}]
    write_agents(tmp_path, agents=agents)
    for _ in range(2):
        with running("up", "agents.json", home=tmp_path) as house:
            assert secret in house.text
            done = cohabit("call", "whoami", "--url", house.url, "--token", secret, home=tmp_path)
            assert json.loads(done.stdout)["handle"] == "ann"
            assert house.stop()[0] == 0


def test_serve_shows_a_host_credential_once_and_a_lost_one_can_be_issued_again(tmp_path: Path) -> None:
    with running("serve", home=tmp_path) as house:
        token = next(line.strip() for line in house.greeting if re.fullmatch(r"  \w{48}", line))
        as_host = {"COHABIT_TOKEN": token, "COHABIT_URL": house.url}
        made = cohabit("call", "create_room", "scenario=demo", "room=r1", home=tmp_path, env=as_host)
        assert set(json.loads(made.stdout)["tokens"]) >= {"ada", "cleo"}
        invited = cohabit("invite", "hera", "--kind", "human", "--room", "r1", home=tmp_path, env=as_host)
        assert invited.returncode == 0, invited.stderr
        assert "hera is invited to room r1 as human" in invited.stdout
        options = ("--name", "The Guests", "--uses", "20", "--expires", "2h")
        assert cohabit("invite", "guest", *options, "--room", "r1", home=tmp_path, env=as_host).returncode == 0
        exact = cohabit("invite", "owl", "--may", "watch,read_chat", "--room", "r1", home=tmp_path, env=as_host)
        assert "owl is invited to room r1 with watch,read_chat" in exact.stdout
        unknown = cohabit("invite", "owl2", "--may", "fly", "--room", "r1", home=tmp_path, env=as_host)
        assert unknown.returncode != 0
        assert "fly" in unknown.stderr
        listed = cohabit("call", "invites", "--room", "r1", home=tmp_path, env=as_host)
        guest = next(one for one in json.loads(listed.stdout)["invites"] if one["member"] == "guest")
        assert guest["uses"] == 20
        assert guest["expires_at"] > 0
        again = cohabit("token", "new", "me", "--host", home=tmp_path).stdout.strip()
        done = cohabit("rooms", "--url", house.url, "--token", again, home=tmp_path)
        assert "r1" in done.stdout
        assert house.stop()[0] == 0
    with running("serve", home=tmp_path) as house:
        assert token not in house.text
        assert "cohabit token new NAME --host" in house.text
        assert "  r1: kingdoms" in house.text


def test_a_second_house_on_the_same_folder_and_a_taken_port_are_refused(tmp_path: Path) -> None:
    with running("up", "--demo", "--data", "house", home=tmp_path) as house:
        second = cohabit("serve", "--data", "house", "--port", "0", home=tmp_path)
        assert (second.returncode, second.stdout) == (1, "")
        assert "another house" in second.stderr
        port = house.url.rsplit(":", 1)[1]
        third = cohabit("serve", "--data", "other", "--port", port, home=tmp_path)
        assert third.returncode == 1
        assert "choose another port with --port; a second house also needs a data folder of its own: " in third.stderr
        assert "--port N --data DIR" in third.stderr
        assert "Traceback" not in third.stderr


def test_watch_shows_events_and_views_and_a_refused_call_is_exit_code_1(tmp_path: Path) -> None:
    write_agents(tmp_path)
    with running("up", "agents.json", home=tmp_path) as house:
        ann, bob = house.token("ann"), house.token("bob")
        early = cohabit("call", "take", "n=1", "--url", house.url, "--token", bob, home=tmp_path)
        assert early.returncode == 1
        assert "[TURN_NOT_YOURS]" in early.stderr
        assert early.stderr.count("\n") == 1
        watcher = subprocess.Popen(
            [*copy(), "watch", f"{house.url}/?room=agents#{bob}"], stdout=subprocess.PIPE, text=True,
            env=environment(tmp_path),
        )  # fmt: skip
        try:
            assert watcher.stdout is not None
            assert any("(8 stones)" in line for line in watcher.stdout)
            played = cohabit("play", f"{house.url}/?room=agents#{ann}", home=tmp_path, typed="2\n/quit\n")
            assert "You took 2; 6 are left." in played.stdout
            seen = ""
            for line in watcher.stdout:
                seen += line
                if "first takes 2" in seen and "(6 stones)" in seen:
                    break
            watcher.send_signal(signal.SIGINT)
            watcher.communicate(timeout=120)
            assert watcher.returncode == 0
        finally:
            watcher.kill()
            watcher.communicate()


def test_a_world_of_ones_own_is_served_from_its_file(tmp_path: Path) -> None:
    game = tmp_path / "mygame.py"
    source = Path(__file__).parents[2] / "src/cohabit/worlds/nim.py"
    game.write_text(source.read_text(encoding="utf-8").replace('name="nim"', 'name="mynim"'), encoding="utf-8")
    with running("up", "./mygame.py", "--bots", "--seed", "5", home=tmp_path) as house:
        assert "Room mynim: mynim" in house.text
        assert house.says("takes")
        assert house.stop()[0] == 0


def test_a_port_that_was_asked_for_and_is_taken_is_named(tmp_path: Path) -> None:
    with closing(socket.socket()) as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        with running("up", "nim", "--bridge-port", str(port), home=tmp_path, links=False) as house:
            assert f"--bridge-port: cannot listen on 127.0.0.1:{port}" in house.text


def test_a_house_whose_output_is_closed_serves_and_logs_no_traceback(tmp_path: Path) -> None:
    reader, writer = os.pipe()
    os.close(reader)
    words = [*copy(), "serve", "--host", "0.0.0.0", "--port", "0"]
    with subprocess.Popen(
        words, stdout=writer, stderr=subprocess.PIPE, text=True, env=environment(tmp_path), cwd=tmp_path
    ) as process:
        os.close(writer)
        assert process.stderr is not None
        assert process.stderr.readline().startswith("cohabit: ")  # the warning about its address: it is open
        process.send_signal(signal.SIGINT)
        assert "Traceback" not in process.communicate(timeout=120)[1]


def ask_mcp(*words: str, home: Path, env: Mapping[str, str] | None = None) -> list[dict[str, object]]:
    """Shake hands over stdio and ask for the tools; the two answers."""
    hello = {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "test", "version": "1"}}
    process = subprocess.Popen(
        [*copy(), "mcp", *words], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
        env=environment(home, env), cwd=home,
    )  # fmt: skip
    try:
        assert process.stdin is not None
        assert process.stdout is not None
        answers = []
        for number, (method, params) in enumerate([("initialize", hello), ("tools/list", {})]):
            ask = {"jsonrpc": "2.0", "id": number, "method": method, "params": params}
            process.stdin.write(json.dumps(ask) + "\n")
            process.stdin.flush()
            answers.append(json.loads(process.stdout.readline()))
            if number == 0:
                process.stdin.write('{"jsonrpc": "2.0", "method": "notifications/initialized"}\n')
        process.communicate(timeout=120)
        assert process.returncode == 0
        return answers
    finally:
        process.kill()
        process.communicate()


def test_mcp_speaks_for_a_member_of_a_house_or_with_a_house_inside(tmp_path: Path) -> None:
    write_agents(tmp_path)
    with running("up", "agents.json", home=tmp_path) as house:
        env = {"COHABIT_TOKEN": house.token("ann")}
        _, tools = ask_mcp("--url", house.url, "--room", "agents", home=tmp_path, env=env)
        assert "take" in json.dumps(tools)
    _, tools = ask_mcp("--scenario", "nim", "--as", "player-2", home=tmp_path)
    assert "take" in json.dumps(tools)
    refused = cohabit("mcp", "--scenario", "nim", "--as", "nobody", home=tmp_path)
    assert refused.returncode == 1
    assert "its members are host, player-1, player-2" in refused.stderr
