from typing import Annotated, Any, Literal

import msgspec
import pytest
from msgspec import Meta, Struct

from cohabit.model.stream import Stream
from cohabit.room.commands import Command, Options
from cohabit.testing.samples import sample_args


class Place(Struct):
    x: Annotated[int, Meta(ge=-3, le=3)]
    y: int = 0


def anything(
    ctx: object,
    n: Annotated[int, Meta(ge=1, le=3)],
    above: Annotated[int, Meta(gt=5)],
    text: Annotated[str, Meta(min_length=2, max_length=4)],
    kind: Literal["red", "green"],
    place: Place,
    many: Annotated[list[Place], Meta(min_length=1, max_length=2)],
    pair: tuple[int, str],
    share: Annotated[float, Meta(ge=0, le=1)],
    maybe: int | None = None,
    flag: bool = False,
    free: Any = None,
) -> None:
    """Takes one of everything."""


@pytest.mark.parametrize("seed", range(30))
def test_sampled_arguments_fit_the_schema_they_were_drawn_from(seed):
    command = Command("anything", anything, Options(category="meta"))
    args = sample_args(command.schema, Stream(seed, "samples"))
    assert command.check(args)["kind"] in ("red", "green")


def test_the_same_stream_draws_the_same_arguments():
    schema = Command("anything", anything, Options(category="meta")).schema
    draw = [msgspec.json.encode(sample_args(schema, Stream(1, "samples"))) for _ in range(2)]
    assert draw[0] == draw[1]
