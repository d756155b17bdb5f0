"""Agents in any language: programs that read and write lines. Whatever they do is counted, and the game goes on."""

import json
import re
import shlex
from pathlib import Path
from typing import Any

import pytest

from cohabit.agents import isolated
from cohabit.agents.brain import label_of, parse_brain
from cohabit.agents.command import CommandAgent
from cohabit.agents.contract import Heard, Turn
from cohabit.agents.isolated import MAX_ENDS
from cohabit.agents.program import MAX_LINE, MAX_SAID, ProgramEnded
from cohabit.lab.match import match
from cohabit.model.action import Action, ActionResult, ActionSpace
from cohabit.model.observation import Observation

ROOT = Path(__file__).parents[2]
EXAMPLES = ROOT / "examples" / "agents"
PAGE = ROOT / "docs" / "agents-any-language.md"
TURN = Turn(Observation(choices=[{"action": "take", "params": {"n": 1}}]), "a view", number=3, fallback=lambda: None)
ANSWER = '{"action": "take", "params": {"n": 1}}'
PLAYED = Action("take", {"n": 1})


def script(folder: Path, text: str) -> str:
    """The command of a shell script."""
    path = folder / "agent.sh"
    path.write_text(text)
    return f"command:sh {path}"


def answering(folder: Path, text: str) -> CommandAgent:
    """An agent that is a shell script, in this process."""
    agent = CommandAgent(parse_brain(script(folder, text)).words)
    agent.initialize("rules", ActionSpace())
    return agent


def played(results: Any, player: str) -> list[Any]:
    return [line.decision for line in results.decisions() if line.player == player]


# -- the examples -------------------------------------------------------------------------------------
def test_a_shell_script_plays_as_every_agent_does(tmp_path: Path) -> None:
    name = f"command:sh {EXAMPLES / 'first.sh'}"
    results = match("nim", name, "random", games=1, progress=False, out=tmp_path / "out")
    made = played(results, name)
    assert {decision.outcome for decision in made} == {"chosen"}
    assert {decision.action.text for decision in made} == {PLAYED.text}
    assert json.loads(made[0].exchanges[0].answer) == {"action": "take", "params": {"n": 1}}


@pytest.mark.node
def test_a_program_in_javascript_plays_and_gives_its_reasons(need: Any) -> None:
    name = f"command:{need('node22')} {EXAMPLES / 'curious.js'}"
    made = played(match("tictactoe", name, "random", games=1, progress=False), name)
    assert {decision.outcome for decision in made} == {"chosen"}
    assert len({decision.action.text for decision in made}) == len(made)
    assert made[0].action.reasoning == "I have done this 0 times"


# -- the lines ----------------------------------------------------------------------------------------
def test_the_lines_in_the_documentation_are_those_that_a_program_gets_and_sends(tmp_path: Path) -> None:
    """The first decision of the first game of Nim, and the answer of the example."""
    log = tmp_path / "log"
    first = shlex.quote(str(EXAMPLES / "first.sh"))
    name = script(tmp_path, f"tee -a {shlex.quote(str(log))} | sh {first}\n")
    match("nim", name, "random", games=1, progress=False)
    shown = [json.loads(block) for block in re.findall(r"```json\n(.*?)```", PAGE.read_text(), re.DOTALL)]
    sent = [json.loads(line) for line in log.read_text().splitlines()]
    assert shown[0] == sent[0]
    assert shown[1] == {**sent[0]["observation"]["choices"][0], "decision": 1, "reasoning": "it leaves 19"}


def test_a_program_is_told_messages_results_and_why_its_answer_was_not_accepted(tmp_path: Path) -> None:
    agent = answering(tmp_path, f"while read -r line; do echo '{ANSWER}'; done")
    agent.reflect(ActionResult(True, "You took 1.", 0.5, observation=TURN.observation, view_id="x"))
    heard = Turn(TURN.observation, "a view", heard=[Heard("bob", "hi")], fallback=lambda: PLAYED)
    lines = [json.loads(agent.think(heard, said).exchanges[0].messages[0]["content"]) for said in ("", "not legal")]
    agent.close()
    assert lines[0]["result"] == {"success": True, "message": "You took 1.", "reward": 0.5}
    assert lines[0]["messages"] == [{"sender": "bob", "content": "hi", "seat": None}]
    assert lines[0]["fallback"] == {"action": "take", "params": {"n": 1}}
    assert "correction" not in lines[0]
    assert lines[1]["correction"] == "not legal"
    assert "rules" in lines[0]  # once after each start
    assert not lines[1].keys() & {"rules", "action_space", "result"}


@pytest.mark.parametrize(
    ("answer", "action", "problem"),
    [
        (ANSWER, PLAYED, ""),
        ('{"name": "take", "parameters": {"n": 1}}', PLAYED, ""),
        ("null", None, ""),
        ('{"action": null}', None, ""),
        ("", None, "ends"),
        ("hello", None, "The line is not a JSON object"),
        ("[1]", None, "The line is not a JSON object"),
        ("[" * 9999, None, "The line is not a JSON object"),
        ('{"action": 3}', None, "The action must be a string"),
        ('{"params": {}}', None, 'has no "action"'),
        ('{"action": "take", "params": 3}', None, '"params" must be an object'),
    ],
)
def test_a_line_is_an_action_nothing_or_a_problem_that_says_what_to_write(
    answer: str, action: Action | None, problem: str, tmp_path: Path
) -> None:
    (tmp_path / "answer").write_text(answer + "\n")
    agent = answering(tmp_path, f"read -r line; cat {shlex.quote(str(tmp_path / 'answer'))}")
    if problem == "ends":  # empty lines are skipped
        with pytest.raises(ProgramEnded, match="the program ended with exit code 0"):
            agent.think(TURN)
        return
    thought = agent.think(TURN)
    assert thought.action == action
    assert problem in thought.problem if problem else not thought.problem
    assert thought.exchanges[0].answer == answer
    agent.close()


def test_lines_that_nobody_asked_for_and_answers_to_other_decisions_are_not_used(tmp_path: Path) -> None:
    talks = f"""
        echo '{{"action": "unasked"}}'
        mkfifo "$0.ready"
        while read -r line; do echo '{{"decision": 2, "action": "late"}}'; echo '{ANSWER}'; done
    """
    agent = answering(tmp_path, talks)
    while not (tmp_path / "agent.sh.ready").exists():  # then the line was written
        pass
    assert agent.think(TURN).action == PLAYED
    agent.close()


# -- what it says, and its end ------------------------------------------------------------------------
def test_what_a_program_says_on_its_error_output_is_kept_up_to_a_limit(tmp_path: Path) -> None:
    agent = answering(
        tmp_path,
        f"read -r line; echo one >&2; echo '{ANSWER}'; read -r line; yes two | head -c 99999 >&2; exit 3",
    )
    assert agent.think(TURN).exchanges[0].thinking == "one"
    with pytest.raises(ProgramEnded, match=r"the program ended with exit code 3; it said last: (two ?)+$") as ended:
        agent.think(TURN)
    assert len(str(ended.value)) < MAX_SAID


def test_a_line_without_an_end_kills_the_program(tmp_path: Path) -> None:
    agent = answering(tmp_path, "exec cat /dev/zero")
    with pytest.raises(ProgramEnded, match=f"wrote a line of more than {MAX_LINE:,} bytes"):
        agent.think(TURN)


def test_a_program_gets_no_token_key_or_setting_of_the_house(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    secrets = {
        "COHABIT_TOKEN": "a-token", "COHABIT_PORT": "8724", "OPENAI_API_KEY": "sk-1", "MY_PASSWORD": "hidden-1",
        "DATABASE": "postgres://me:hidden-2@host/x",
    }  # fmt: skip
    for name, value in {**secrets, "HARMLESS": "yes"}.items():
        monkeypatch.setenv(name, value)
    agent = answering(tmp_path, f"env > \"$0.env\"; while read -r line; do echo '{ANSWER}'; done")
    agent.think(TURN)
    agent.close()
    got = dict(line.split("=", 1) for line in (tmp_path / "agent.sh.env").read_text().splitlines())
    assert got["HARMLESS"] == "yes"
    assert got["PATH"]
    assert not got.keys() & secrets.keys()


def test_a_program_that_always_ends_is_not_started_without_end_and_the_game_goes_on(tmp_path: Path) -> None:
    name = script(tmp_path, 'echo x >> "$0.starts"; echo "no such map" >&2; read -r line; exit 3')
    results = match("nim", name, "random", games=1, progress=False, config={"stones": 30})
    made = played(results, name)
    assert [game.ended for game in results.games] == ["over"]
    assert len(made) > MAX_ENDS
    assert {decision.outcome for decision in made} == {"failed"}
    assert all(decision.action is not None for decision in made)  # the fallback
    assert made[0].problem.endswith("the program ended with exit code 3; it said last: no such map")
    assert made[-1].problem == (
        f"AgentCrashed: the program ended {MAX_ENDS} times in a row without an answer, and is not started again"
    )
    assert len((tmp_path / "agent.sh.starts").read_text().split()) == MAX_ENDS


def test_a_program_that_does_not_answer_in_time_is_killed_and_started_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(isolated, "MIN_GRACE_S", 0.01)
    monkeypatch.setattr(isolated, "MAX_GRACE_S", 0.01)
    waits = f"""
        if mkdir "$0.started" 2>/dev/null; then read -r line; exec sleep 600; fi
        while read -r line; do echo '{ANSWER}'; done
    """
    name = script(tmp_path, waits)
    made = played(match("nim", name, "random", games=1, progress=False, seconds=1.0, config={"stones": 8}), name)
    assert [decision.outcome for decision in made][:2] == ["timeout", "chosen"]
    assert made[0].problem == "no answer in 1 s"


# -- its name -----------------------------------------------------------------------------------------
@pytest.mark.parametrize("name", ["command:node a.js", "command:python3 -u 'my agent.py' --level=3?x@y"])
def test_the_name_of_a_program_is_its_whole_command_line(name: str) -> None:
    assert str(parse_brain(name)) == name
    assert parse_brain(name).is_code_or_network
    assert not parse_brain(name).is_file


def test_other_members_see_neither_folder_nor_arguments_of_a_program() -> None:
    assert label_of("command:/home/ada/bin/clever --level 3") == "command:clever"
