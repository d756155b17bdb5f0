"""Plays games with Inspect and mock models; run by `test_inspect.py` in an environment of its own. Prints what the logs say,
as JSON."""

import json
import sys

from inspect_ai import eval as evaluate
from inspect_ai.model import ModelOutput, ModelUsage, get_model

from cohabit_inspect import match
from cohabit_inspect.answers import read_answer

CLUMSY = ["I do not know.", '{"action": "take", "params": {"n": 5}}', "7"]
"""Answers without a move: words, an action that the world refuses, a number that no move has."""

READ = {
    "2": 2, "**Move 3.**": 3, "I take two.\n\n`2`": 2, "0": None, "4": None, "": None, "two": None, "12 or 3": None,
    '{"action": "take", "params": {"n": 1}}': 1, '{"action": "take"}': 0, '{"take": 1}': None, '{"action": 1}': None,
    'Not {"action": "take", "params": {"n": 1}} but {"action": "take", "params": {"n": 3}}, I think.': 3,
    "{" * 5000: None, '{"a":' * 5000: None,
}  # fmt: skip
"""Answers to three moves, and the number of stones in each; 0: an action without it."""


def stones(answer):
    choice = read_answer(answer, [{"action": "take", "params": {"n": n}} for n in (1, 2, 3)])
    return choice and choice["params"].get("n", 0)


def answers(texts):
    """A mock model that gives these answers, and then always takes one stone."""
    rest = iter(texts)

    def answer(*asked):
        text = next(rest, 'One.\n```json\n{"action": "take", "params": {"n": 1}}\n```')
        output = ModelOutput.from_content(model="mockllm", content=text)
        output.usage = ModelUsage()  # Inspect would download an encoding to count tokens
        return output

    return get_model("mockllm/model", memoize=False, custom_outputs=answer)


def report(task, model):
    (log,) = evaluate(task, model=model, display="none", log_dir="logs")
    samples = [
        {**score.metadata, "value": score.value, "asked": [message.text for message in sample.messages]}
        for sample in log.samples
        for score in sample.scores.values()
    ]
    metrics = {name: metric.value for name, metric in log.results.scores[0].metrics.items()} if log.results else {}
    return {"status": log.status, "samples": samples, "metrics": metrics}


found = {
    "duel": report(match(games=2, rehearse=True, seats="duel"), "mockllm/model"),
    "clumsy": report(match(seats="heap", answers=3), answers(CLUMSY)),
    "misread": [answer[:80] for answer, number in READ.items() if stones(answer) != number],
    "again": report(match(seats="heap", turns=1), answers(["move 2"])),
}
json.dump(found, sys.stdout)
