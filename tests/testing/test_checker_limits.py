"""check_world runs a world in a process with limits, and says what the world uses outside of itself."""

import os
import select
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from cohabit.faces.cli import main
from cohabit.testing import checker
from cohabit.testing.checker import Finding, Report, check_world
from cohabit.testing.watch import Limits

TALLY = (Path(__file__).parent / "tally.py").read_text()
LIMITS = Limits(cpu_s=1, memory_mb=1024)
IMPORT = "from typing import Annotated\n"
SPEC = "    spec = "
RESET = '        self.said = ""\n'
OBSERVE = "        return Observation("
MADE = "        self.moves += 1\n"
LEGAL = 'return [Action("add", {"n": n}) for n in range(1, 6)]'
QUERY = "\n    @query()\n"
FOREVER = "while True:\n            pass"


def report_of(folder: Path, *changes: tuple[str, str], limits: Limits = LIMITS) -> Report:
    text = TALLY
    for old, new in changes:
        assert text.count(old) == 1, f"{old!r} is there {text.count(old)} times"
        text = text.replace(old, new)
    file = folder / "tally.py"
    file.write_text(text)
    return check_world(str(file), seeds=(1,), steps=10, limits=limits)


def finding(report: Report, check: str) -> Finding:
    return next(found for found in report.findings if found.check == check)


def method(name: str, body: str) -> tuple[str, str]:
    return QUERY, f"\n    def {name}:\n        {body}\n{QUERY}"


STUCK = {
    "its import": ("the import of", [(IMPORT, f"{IMPORT}\nwhile True:\n    pass\n")]),
    "__init__": ("__init__() did not return", [method("__init__(self)", FOREVER)]),
    "reset": ("reset(1, ", [(RESET, f"{RESET}        {FOREVER}\n")]),
    "observe": ("observe(the eye of ", [(OBSERVE, f"        {FOREVER}\n{OBSERVE}")]),
    "an action": ("add(seat left, n=", [(MADE, f"{MADE}        {FOREVER}\n")]),
    "snapshot": ("snapshot() did not return", [method("snapshot(self)", FOREVER)]),
    "legal": ("legal(seat left) did not return", [(LEGAL, FOREVER)]),
    "a call into C that never gives control back": (
        "standings() did not return",
        [("        return [Standing", "        import re\n        re.match('(a+)+$', 'a' * 64 + 'b')\n        return [Standing")],
    ),
}  # fmt: skip


@pytest.mark.sampled
@pytest.mark.parametrize("what", list(STUCK))
def test_a_world_that_never_returns_is_stopped_and_the_method_is_named(what, tmp_path):
    words, changes = STUCK[what]
    report = report_of(tmp_path, *changes)
    found = finding(report, "limits")
    assert not report.ok
    assert found.ok is False
    assert words in found.message, found.message
    assert "did not return within 1 s of CPU time (tally.py:" in found.message, found.message
    assert {f.message for f in report.findings if f.ok is None} == {"skipped: the world was stopped"}


def test_a_world_that_waits_for_ever_is_stopped_although_it_uses_no_cpu_time(tmp_path):
    wait = "        __import__('threading').Event().wait()\n"
    report = report_of(tmp_path, (OBSERVE, wait + OBSERVE), limits=Limits(cpu_s=1, wait_s=5))
    found = finding(report, "limits")
    assert "did not return within 5 s; it was waiting, not computing (tally.py:" in found.message, found.message


def test_a_world_that_never_returns_in_another_process_alone_is_named_too(tmp_path):
    stuck = "        while __import__('os').environ.get('PYTHONHASHSEED') == '2':\n            pass\n"
    found = finding(report_of(tmp_path, (OBSERVE, stuck + OBSERVE)), "process")
    assert "in a process with another PYTHONHASHSEED observe(the eye of" in found.message, found.message
    assert "did not return within 1 s of CPU time (tally.py:" in found.message, found.message


def test_a_thread_that_a_world_leaves_behind_does_not_keep_the_check(tmp_path):
    left = "        __import__('threading').Thread(target=__import__('threading').Event().wait).start()\n"
    report = report_of(tmp_path, (RESET, f"{RESET}{left}"))
    assert "starts a thread" in finding(report, "outside").message
    assert finding(report, "limits").ok


@pytest.mark.parametrize("shown", ["text='x' * 1_000_001", "text_says_all=True, status={'map': [0] * 2_000_001}"])
def test_a_world_that_shows_too_much_is_told_the_size_and_the_limit(shown, tmp_path):
    report = report_of(tmp_path, (OBSERVE, f"        return Observation({shown})\n{OBSERVE}"))
    found = finding(report, "play")
    assert report.failed() == ["play"]
    assert "the world shows too much: the view of those who see " in found.message, found.message
    assert " has 1,000,0" in found.message or " has 4,000,0" in found.message, found.message


@pytest.mark.soak
def test_a_list_that_never_ends_is_stopped_too(tmp_path):
    endless = "return __import__('itertools').repeat(Action('add', {'n': 1}))"
    found = finding(report_of(tmp_path, (LEGAL, endless), limits=Limits(cpu_s=0.3, memory_mb=100_000)), "limits")
    assert found.ok is False
    assert "something that the world returned could not be read within 3 s of CPU time" in found.message, found.message


ENDS = {
    "exits": ("ended the process with exit status 0", "__import__('os')._exit(0)"),
    "crashes": ("ended the process with SIGSEGV", "__import__('ctypes').string_at(0)"),
    "kills itself": ("ended the process with SIGKILL", "__import__('os').kill(__import__('os').getpid(), 9)"),
}


@pytest.mark.parametrize("how", list(ENDS))
def test_a_world_that_ends_its_process_gets_a_report(how, tmp_path):
    words, does = ENDS[how]
    found = finding(report_of(tmp_path, (MADE, f"{MADE}        {does}\n")), "limits")
    assert found.ok is False
    assert found.message.startswith("add(seat left, n=")
    assert words in found.message, found.message


def test_a_world_that_leaves_python_gets_a_report(tmp_path):
    report = report_of(tmp_path, (OBSERVE, f"        raise SystemExit\n{OBSERVE}"))
    assert "SystemExit" in str(report)
    assert not report.ok
    assert len(report.findings) > 20


def test_a_world_that_takes_too_much_memory_is_refused(tmp_path):
    report = report_of(tmp_path, (OBSERVE, f"        self.much = bytearray(2**31)\n{OBSERVE}"))
    assert "observe(the eye of" in finding(report, "limits").message
    assert "needed more than 1024 MB of memory" in finding(report, "limits").message


def test_what_a_world_prints_is_not_in_the_report(tmp_path, capfd):
    report = report_of(tmp_path, (RESET, f"{RESET}        print('hello from reset')\n"))
    assert report.ok, f"\n{report}"
    out, err = capfd.readouterr()
    assert "hello" not in out
    assert "hello from reset" in err


def test_the_command_ends_with_an_error_when_a_world_ends_its_process(tmp_path, capsys):
    file = tmp_path / "tally.py"
    file.write_text(TALLY.replace(IMPORT, f"{IMPORT}\nimport os\nos._exit(3)\n"))
    assert main(["check", str(file)]) == 1
    assert "ended the process with exit status 3" in " ".join(capsys.readouterr().out.split())


# -- what it uses outside of itself --------------------------------------------------------------------------
OUTSIDE = {
    "reads the environment variable 'HOME'": "os.environ.get('HOME')",
    "reads the environment variable 'USER'": "'USER' in os.environ",
    "reads the environment variable 'LANG'": "os.environb.get(b'LANG')",
    "reads the environment variables": "list(os.environ)",
    "sets the environment variable": "os.environ['SEEN'] = '1'",
    "writes the file '/dev/null'": "open('/dev/null', 'a').close()",
    "writes the file '/dev/stderr'": "os.close(os.open('/dev/stderr', os.O_WRONLY))",
    "writes the file '/dev/zero'": "__import__('pathlib').Path('/dev/zero').write_text('')",
    "reads the file '/etc/hosts'": "open('/etc/hosts').close()",
    "makes the folder": "__import__('tempfile').mkdtemp(dir=os.path.dirname(__file__))",
    "deletes the folder": "os.rmdir('no such folder')",
    "lists the folder '/'": "os.listdir('/')",
    "starts a process": "__import__('subprocess').run(['true'])",
    "starts a thread": "__import__('threading').Thread(target=str).start()",
    "uses the network": "__import__('socket').socket().close()",
    "reads the clock": "__import__('time').monotonic()",
    "uses a random generator of the whole process": "__import__('random').random()",
    "asks the system for random bytes": "__import__('uuid').uuid4()",
}


def test_a_world_is_refused_for_everything_that_it_uses_outside_of_itself_with_the_line(tmp_path):
    uses = "".join(
        f"        try:\n            {use}\n        except OSError:\n            pass\n" for use in OUTSIDE.values()
    )
    report = report_of(tmp_path, (MADE, f"{MADE}        import os\n{uses}"))
    found = finding(report, "outside")
    assert found.ok is False
    assert [words for words in OUTSIDE if f"in add() {words}" not in found.message] == [], found.message
    assert found.message.startswith("tally.py:"), found.message


def test_a_world_that_reads_the_environment_when_it_is_imported_or_made_is_refused(tmp_path):
    at_import = (IMPORT, f"{IMPORT}import os\n\nMODE = os.getenv('LANG', '')\n")
    report = report_of(tmp_path, at_import, method("__init__(self)", "os.environ.get('USER')"))
    message = finding(report, "outside").message
    assert "in <module>() reads the environment variable 'LANG'" in message
    assert "in __init__() reads the environment variable 'USER'" in message


def test_a_world_may_import_libraries_late_and_read_the_files_beside_it(tmp_path):
    (tmp_path / "names.txt").write_text("one two")
    (tmp_path / "more.py").write_text("COUNT = 2\n")
    read = "import pathlib\n        self.said = (pathlib.Path(__file__).parent / 'names.txt').read_text()"
    late = "import decimal, sqlite3, numpy, wave, xml.dom.minidom, email.message, logging.handlers"
    report = report_of(
        tmp_path,
        (
            RESET,
            f"{RESET}        {late}\n        {read}\n        __import__('os').listdir(pathlib.Path(__file__).parent)\n",
        ),
    )
    assert finding(report, "outside").ok, f"\n{report}"


def test_a_line_that_uses_something_outside_can_be_excused_with_a_reason(tmp_path):
    excused = f"{RESET}        __import__('os').environ.get('HOME')  # cohabit: ok - a test\n"
    assert finding(report_of(tmp_path, (RESET, excused)), "outside").ok


def test_nothing_is_said_about_the_conduct_of_a_world_that_cannot_be_created(tmp_path):
    report = check_world(f"{tmp_path}/missing.py")
    assert [finding(report, check).ok for check in ("spec", "outside", "limits")] == [False, None, None]


def test_a_world_that_keeps_within_its_limits_passes(tmp_path):
    report = report_of(tmp_path)
    assert report.ok, f"\n{report}"
    assert "every call returned within 1 s of CPU time and 120 s in all" in finding(report, "limits").message


def test_a_world_cannot_import_from_the_current_folder_what_a_house_would_not_find(tmp_path, monkeypatch):
    (tmp_path / "my_own_cards.py").write_text("")
    monkeypatch.chdir(tmp_path)
    found = finding(report_of(tmp_path, (IMPORT, f"{IMPORT}\nimport my_own_cards\n")), "spec")
    assert not found.ok
    assert "No module named 'my_own_cards'" in found.message


@pytest.mark.skipif(not hasattr(os, "pidfd_open"), reason="only Linux has pidfd_open")
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGKILL])
def test_a_check_that_is_killed_leaves_no_process_behind(number: int, tmp_path: Path) -> None:
    (tmp_path / "endless.py").write_text("import os\nprint(os.getpid(), flush=True)\nwhile True:\n    pass\n")
    with subprocess.Popen(
        [sys.executable, "-m", "cohabit", "check", "endless.py"], cwd=tmp_path, stderr=subprocess.PIPE, text=True
    ) as check:
        assert check.stderr is not None
        world = os.pidfd_open(int(check.stderr.readline()))
        check.send_signal(number)
        check.wait()
    ended, _, _ = select.select([world], [], [])
    assert ended == [world]
    os.close(world)


def test_a_check_says_how_far_it_is(monkeypatch):
    monkeypatch.setattr(checker, "LOOK_S", 0.05)
    told = []
    assert check_world("nim", seeds=(1,), steps=40, on_progress=lambda done, planned: told.append((done, planned))).ok
    assert told == sorted(told)
    assert told[0] == (0, len(checker.CHECKS))
    assert told[-1] == (len(checker.CHECKS), len(checker.CHECKS))
