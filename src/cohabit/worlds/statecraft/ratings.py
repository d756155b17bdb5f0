"""What nations think of each other: two matrices, rater -> rated -> 1 to 10, and their means."""

from typing import Any

from cohabit.worlds.statecraft.ledgers import Flows

TENTHS = 10


def entered(matrix: Flows, reports: Flows) -> Flows:
    """The matrix with the reports of a turn entered; who says nothing about somebody thinks what it thought."""
    return {rater: {**row, **reports.get(rater, {})} for rater, row in matrix.items()}


def means(matrix: Flows) -> dict[str, float]:
    """How each nation is rated by the others, rounded down to tenths; whom nobody rated is left out."""
    given = {
        rated: [row[rated] for rater, row in sorted(matrix.items()) if rater != rated and rated in row]
        for rated in sorted(matrix)
    }
    return {rated: sum(numbers) * TENTHS // len(numbers) / TENTHS for rated, numbers in given.items() if numbers}


def published(trust: Flows, aggression: Flows) -> dict[str, Any]:
    """The means of both, under the names by which they are shown."""
    return {"keeps_word": means(trust), "aggressor": means(aggression)}
