"""The ratings of nations by each other: two matrices, rater -> rated -> 1 to 10, and their means."""

from typing import Any

from cohabit.worlds.statecraft.state import Flows


def update_ratings(matrix: Flows, reports: Flows) -> Flows:
    """The matrix with the reports of a turn. A rating stays until its rater gives a new one."""
    return {rater: {**row, **reports.get(rater, {})} for rater, row in matrix.items()}


def mean_ratings(matrix: Flows) -> dict[str, float]:
    """The mean rating of each nation by the others, rounded down to tenths; unrated nations are left out."""
    given = {
        rated: [row[rated] for rater, row in sorted(matrix.items()) if rater != rated and rated in row]
        for rated in sorted(matrix)
    }
    return {rated: sum(numbers) * 10 // len(numbers) / 10 for rated, numbers in given.items() if numbers}


def published_ratings(keeps_word: Flows, aggressor: Flows) -> dict[str, Any]:
    """The means of both matrices, under the names by which they are shown."""
    return {"keeps_word": mean_ratings(keeps_word), "aggressor": mean_ratings(aggressor)}
