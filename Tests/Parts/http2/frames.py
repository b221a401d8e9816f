"""Frames of HTTP/2 (RFC 9113 section 4.1) and, of HPACK (RFC 7541), what is sent of it."""

import struct

DATA, HEADERS, PRIORITY, RST_STREAM, SETTINGS, PUSH_PROMISE, PING, GOAWAY, WINDOW_UPDATE, CONTINUATION = range(10)
END_STREAM = ACK = 1
END_HEADERS = 4

# Of the static table.
STATUS_200 = b"\x88"


def frame(kind, flags=0, stream=0, payload=b"", length=None):
    return struct.pack(">I", len(payload) if length is None else length)[1:] + struct.pack(
        ">BBI", kind, flags, stream) + payload


def number(value, prefix, first=0):
    """RFC 7541 section 5.1."""
    most = (1 << prefix) - 1
    if value < most:
        return bytes([first | value])
    encoded = bytearray([first | most])
    value -= most
    while value >= 128:
        encoded.append(value % 128 + 128)
        value //= 128
    return bytes(encoded) + bytes([value])


def text(value):
    value = value.encode() if isinstance(value, str) else value
    return number(len(value), 7) + value


def field(name, value):
    """A literal that is not indexed."""
    return b"\x00" + text(name) + text(value)


def head(stream, block=STATUS_200, flags=END_HEADERS):
    return frame(HEADERS, flags, stream, block)


def long_head(stream, block, flags=0):
    """Over several frames, as a block of any length must be."""
    pieces = [block[start:start + 16_000] for start in range(0, len(block), 16_000)]
    frames = [frame(HEADERS, flags, stream, pieces[0])]
    frames += [frame(CONTINUATION, 0, stream, piece) for piece in pieces[1:]]
    frames.append(frame(CONTINUATION, END_HEADERS, stream))
    return b"".join(frames)


def data(stream, payload=b"ok", flags=END_STREAM):
    return frame(DATA, flags, stream, payload)


def answer(stream, payload=b"ok"):
    return head(stream) + data(stream, payload)


def reset(stream, code):
    return frame(RST_STREAM, 0, stream, struct.pack(">I", code))


def going_away(last, code):
    return frame(GOAWAY, 0, 0, struct.pack(">II", last, code))


def setting(identifier, value):
    return struct.pack(">HI", identifier, value)
