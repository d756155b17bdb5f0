"""`cohabit kibitz`: from an invite link to a remark, in a real house."""

import json
import signal
import subprocess
from pathlib import Path

from .test_cli_house import cohabit, copy, environment, running

MAY = ["watch", "read-chat", "read-roster", "receive-directed", "send-chat"]


def invite(house: object, home: Path, **wanted: object) -> str:
    """The link of an invite."""
    place = ("--url", house.url, "--token", house.token("host"), "--room", "whist")  # type: ignore[attr-defined]
    done = cohabit("call", "invite", json.dumps(wanted), *place, home=home)
    link: str = json.loads(done.stdout)["link"]
    return f"{house.url}{link}" if link.startswith("/") else link  # type: ignore[attr-defined]


def test_a_kibitzer_comes_with_an_invite_greets_and_comments_until_ctrl_c(tmp_path: Path) -> None:
    with running("up", "whist", home=tmp_path) as house:
        link = invite(house, tmp_path, id="owl", kind="agent", may=MAY)
        words = [*copy(), "kibitz", link, "--cooldown-ms", "0"]
        with subprocess.Popen(
            words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environment(tmp_path)
        ) as process:
            assert process.stdout is not None
            assert process.stdout.readline().startswith("To come back as the same member, use your own token: ")
            assert process.stdout.readline() == "owl watches whist.\n"
            assert process.stdout.readline() == "Hello, I am owl. I watch and comment.\n"
            remark = process.stdout.readline().strip()
            process.send_signal(signal.SIGINT)
            rest, wrong = process.communicate(timeout=120)
        said = cohabit("call", "events", "last=200", "--url", house.url, "--token", house.token("robin"), home=tmp_path)
    assert (process.returncode, wrong) == (0, "")
    assert rest.splitlines()[-1].startswith("Lines said: ")
    assert f"owl to everyone: {remark}" in [item["text"] for item in json.loads(said.stdout)["items"]]


def test_a_kibitzer_that_is_removed_ends_and_says_why(tmp_path: Path) -> None:
    with running("up", "whist", home=tmp_path) as house:
        link = invite(house, tmp_path, id="owl", kind="agent", may=MAY)
        with subprocess.Popen(
            [*copy(), "kibitz", link], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
            env=environment(tmp_path),
        ) as process:  # fmt: skip
            assert process.stdout is not None
            assert process.stdout.readline().startswith("To come back as the same member, use your own token: ")
            assert process.stdout.readline() == "owl watches whist.\n"
            host = ("--url", house.url, "--token", house.token("host"), "--room", "whist")
            assert cohabit("call", "remove_member", "member=owl", *host, home=tmp_path).returncode == 0
            _, wrong = process.communicate(timeout=120)
    assert process.returncode == 1
    assert wrong.startswith("cohabit: ")


def test_a_brain_that_cannot_talk_and_a_negative_cooldown_are_refused(tmp_path: Path) -> None:
    done = cohabit("kibitz", "whist", "--token", "x" * 40, "--brain", "random", home=tmp_path)
    assert (done.returncode, "the brain random cannot talk" in done.stderr) == (1, True)
    done = cohabit("kibitz", "whist", "--token", "x" * 40, "--cooldown-ms", "-1", home=tmp_path)
    assert (done.returncode, "--cooldown-ms must not be negative" in done.stderr) == (2, True)
