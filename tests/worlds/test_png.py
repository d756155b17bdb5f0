"""PNG files of our own writing are read by others as they were meant."""

from io import BytesIO

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from PIL import Image

from cohabit.worlds.png import encode, encode_rgb


@given(st.integers(1, 20), st.integers(1, 20), st.randoms(use_true_random=False))
def test_pixels_are_read_back_as_they_were_written(width: int, height: int, rng: object) -> None:
    pixels = bytes(rng.randrange(256) for _ in range(3 * width * height))  # type: ignore[attr-defined]
    with Image.open(BytesIO(encode_rgb(width, pixels))) as image:
        assert (image.format, image.mode, image.size) == ("PNG", "RGB", (width, height))
        assert image.tobytes() == pixels


def test_indices_are_read_back_with_the_colours_of_the_palette() -> None:
    palette = [(1, 2, 3), (250, 0, 7)]
    with Image.open(BytesIO(encode(3, [bytes([0, 1, 0]), bytes([1, 1, 0])], palette))) as image:
        assert np.array_equal(np.array(image.convert("RGB")), np.array(palette, np.uint8)[[[0, 1, 0], [1, 1, 0]]])
