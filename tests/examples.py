"""How many examples a property tries: some of them in `make test`, where they are the same ones every time, and all of them
in `make soak`, where they are new ones."""

import os

NEW_CASES = "COHABIT_NEW_CASES" in os.environ
SHARE = 2


def examples(many: int) -> int:
    return many if NEW_CASES else max(many // SHARE, 1)
