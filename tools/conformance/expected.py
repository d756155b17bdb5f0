"""The expected results of the suite on a house without fixtures, with reasons.

`run.py` compares this with what happens: a scenario that fails without fixtures must have a reason here, and a reason
must belong to a scenario that fails.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

ASKS_NOTHING: Final = "A house asks its clients no questions."
TASK: Final = "Calls a fixture. In a house `wait_for_turn` becomes a task."

NEEDS_FIXTURES: Final[Mapping[str, str]] = {
    "logging-set-level": "A house sends no log messages. The protocol deprecates them since 2026-07-28.",
    "tools-call-image": "Calls a fixture. In a house `picture` answers with an image.",
    "tools-call-audio": "No command of a house answers with audio.",
    "tools-call-embedded-resource": "No command of a house answers with an embedded resource.",
    "tools-call-mixed-content": "No command of a house answers with an embedded resource.",
    "tools-call-with-logging": "A house sends no log messages.",
    "tools-call-with-progress": "Calls a fixture. In a house calls that wait report progress if asked to.",
    "tools-call-sampling": ASKS_NOTHING,
    "tools-call-elicitation": ASKS_NOTHING,
    "elicitation-sep1034-defaults": ASKS_NOTHING,
    "elicitation-sep1330-enums": ASKS_NOTHING,
    "resources-read-text": "Reads a fixture. A house has `cohabit://{room}/…`.",
    "resources-read-binary": "No resource of a house is binary.",
    "resources-templates-read": "Reads a fixture. A house has the templates `cohabit://{room}/…`.",
    "resources-subscribe": "Subscribes to a fixture. A house accepts `cohabit://{room}/…`.",
    "resources-unsubscribe": "Subscribes to a fixture. A house accepts `cohabit://{room}/…`.",
    "prompts-get-simple": "Gets a fixture. A house has the prompt `play`.",
    "prompts-get-with-args": "Gets a fixture. In a house the prompt `play` takes a `room`.",
    "prompts-get-embedded-resource": "The prompt of a house is text only.",
    "prompts-get-with-image": "The prompt of a house is text only.",
    "json-schema-2020-12": "Looks for a fixture with keywords that no command of a house needs.",
    "server-sse-polling": "Calls a fixture that closes its own stream. In a house a broken stream can be resumed.",
    "server-stateless": "Two of its checks call a fixture that needs a client capability. The others pass.",
    "input-required-result-basic-elicitation": ASKS_NOTHING,
    "input-required-result-basic-sampling": ASKS_NOTHING,
    "input-required-result-basic-list-roots": ASKS_NOTHING,
    "input-required-result-request-state": ASKS_NOTHING,
    "input-required-result-multiple-input-requests": ASKS_NOTHING,
    "input-required-result-multi-round": ASKS_NOTHING,
    "input-required-result-non-tool-request": ASKS_NOTHING,
    "input-required-result-result-type": ASKS_NOTHING,
    "input-required-result-tampered-state": ASKS_NOTHING,
    "input-required-result-capability-check": ASKS_NOTHING,
    "tasks-lifecycle": TASK,
    "tasks-capability-negotiation": TASK,
    "tasks-wire-fields": TASK,
    "tasks-request-state-removal": TASK,
    "tasks-mrtr-input": ASKS_NOTHING,
    "tasks-request-headers": TASK,
    "tasks-dispatch-and-envelope": TASK,
    "tasks-required-task-error": "No command of a house works only as a task.",
    "tasks-mrtr-composition": ASKS_NOTHING,
    "http-custom-header-server-validation": (
        "No command of a house repeats an argument in a header. A proxy finds the room in the path, `/mcp/{room}`."
    ),
}

PASSES_BY_REFUSAL: Final = frozenset({
    "tools-call-simple-text",
    "tools-call-error",
    "input-required-result-missing-input-response",
    "input-required-result-ignore-extra-params",
    "input-required-result-validate-input",
})  # fmt: skip
"""Scenarios that call a fixture, and whose checks a server without it passes by refusing an unknown tool."""
