"""PNG files, made with the standard library only: of coloured squares, or of pixels."""

import struct
import zlib
from collections.abc import Sequence

Colour = tuple[int, int, int]


def squares(
    width: int, ground: Sequence[int], marks: Sequence[int], palette: Sequence[Colour], scale: int = 12
) -> bytes:
    """A picture of cells, ``width`` per row: a square of colour ``ground[i]`` with a smaller one of ``marks[i]``.

    Colours are indices into the palette, which has at most 256 colours.
    """
    edge = scale // 4
    rows: list[bytes] = []
    for start in range(0, len(ground), width):
        plain = b"".join(bytes([colour]) * scale for colour in ground[start : start + width])
        marked = b"".join(
            bytes([ground[i]]) * edge + bytes([marks[i]]) * (scale - 2 * edge) + bytes([ground[i]]) * edge
            for i in range(start, start + width)
        )
        rows += [plain] * edge + [marked] * (scale - 2 * edge) + [plain] * edge
    return encode(width * scale, rows, palette)


def encode(width: int, rows: Sequence[bytes], palette: Sequence[Colour]) -> bytes:
    """Rows of palette indices as a PNG with eight bits per pixel."""
    return _file(width, rows, (b"PLTE", bytes(part for colour in palette for part in colour)), colour_type=3, level=1)


def encode_rgb(width: int, pixels: bytes) -> bytes:
    """Red, green and blue of each pixel as a PNG. For drawings this is twice as fast as with filters, and smaller."""
    stride = 3 * width
    rows = [pixels[start : start + stride] for start in range(0, len(pixels), stride)]
    return _file(width, rows, colour_type=2, level=2)


def _file(width: int, rows: Sequence[bytes], *more: tuple[bytes, bytes], colour_type: int, level: int) -> bytes:
    header = struct.pack(">IIBBBBB", width, len(rows), 8, colour_type, 0, 0, 0)
    pixels = b"".join(b"\0" + row for row in rows)  # 0: the row is not filtered
    chunks = ((b"IHDR", header), *more, (b"IDAT", zlib.compress(pixels, level)), (b"IEND", b""))
    return b"\x89PNG\r\n\x1a\n" + b"".join(_chunk(name, data) for name, data in chunks)


def _chunk(name: bytes, data: bytes) -> bytes:
    return struct.pack(">I", len(data)) + name + data + struct.pack(">I", zlib.crc32(name + data))
