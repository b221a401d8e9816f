"""An HTTP/2 server (RFC 9113) that does what no well-behaved server does: player.py DIRECTORY CERTIFICATE KEY SEED

For each behaviour below it listens on a port of 127.0.0.1 that the system chooses and prints `NAME PORT`; then
`ready`. Every request is a line of DIRECTORY/access.log, `NAME CONNECTION STREAM`, with connections counted from 1,
written before anything is answered.

What `random` answers on a connection follows from SEED and the connection's number, counted among its own.
"""

import gzip
import itertools
import socket
import ssl
import struct
import sys
import threading

from chance import Chance
from frames import *

DIRECTORY, CERTIFICATE, KEY, SEED = sys.argv[1:]
LOG = open(f"{DIRECTORY}/access.log", "a", buffering=1)
CONNECTIONS = itertools.count(1)
BEHAVIOURS = {}

ERROR_CODES = [
    "no_error", "protocol_error", "internal_error", "flow_control_error", "settings_timeout", "stream_closed",
    "frame_size_error", "refused_stream", "cancel", "compression_error", "connect_error", "enhance_your_calm",
    "inadequate_security", "http_1_1_required"]
PREFACE = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"


class End(Exception):
    """The connection ends here."""


class Connection:
    def __init__(self, name, plain):
        self.name = name
        self.plain = plain
        self.number = next(CONNECTIONS)
        self.socket = None
        self.streams = []
        self.chance = None

    def run(self, act, settings, greeting):
        try:
            self.socket = CONTEXT.wrap_socket(self.plain, server_side=True)
            if self.socket.selected_alpn_protocol() != "h2":
                return self.speak_http1()
            self.expect(PREFACE)
            self.send(settings() if settings else frame(SETTINGS), greeting() if greeting else b"")
            while True:
                self.turn(act)
        except (End, OSError, ssl.SSLError):
            pass
        finally:
            (self.socket or self.plain).close()

    def speak_http1(self):
        """To a client that was told to go back to it."""
        got = b""
        while b"\r\n\r\n" not in got:
            got += self.read(1)
        LOG.write(f"{self.name} {self.number} 0\n")
        self.send(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\nConnection: close\r\n\r\nok")

    def turn(self, act):
        kind, flags, stream, payload = self.read_frame()
        if kind == SETTINGS and not flags & ACK:
            self.send(frame(SETTINGS, ACK))
        elif kind == PING and not flags & ACK:
            self.send(frame(PING, ACK, 0, payload))
        elif kind == HEADERS:
            LOG.write(f"{self.name} {self.number} {stream}\n")
            for piece in act(self, stream) or ():
                self.send(piece)

    def read(self, count):
        got = b""
        while len(got) < count:
            more = self.socket.recv(count - len(got))
            if not more:
                raise End
            got += more
        return got

    def expect(self, wanted):
        if self.read(len(wanted)) != wanted:
            raise End

    def read_frame(self):
        start = self.read(9)
        length = int.from_bytes(start[:3], "big")
        kind, flags, stream = struct.unpack(">BBI", start[3:])
        return kind, flags, stream & 0x7FFFFFFF, self.read(length)

    def send(self, *pieces):
        self.socket.sendall(b"".join(pieces))

    def await_reader(self):
        """Until the peer has taken what was sent so far: with a reset behind it libcurl 7.88 would hand out nothing."""
        self.send(frame(PING, 0, 0, bytes(8)))
        while True:
            kind, flags, _, _ = self.read_frame()
            if kind == PING and flags & ACK:
                return

    def hang_up(self):
        """With an end and no reset: what still comes is read."""
        self.socket.shutdown(socket.SHUT_WR)
        self.socket.settimeout(1)
        while self.socket.recv(65_536):
            pass
        raise End


def behaviour(name=None, settings=None, greeting=None):
    """Gives the frames that answer a request; what is sent before it: other settings, a greeting."""
    def add(act):
        BEHAVIOURS[name or act.__name__] = (act, settings, greeting)
        return act
    return add


# What is allowed.

@behaviour()
def ok(connection, stream):
    yield answer(stream)


@behaviour()
def unknown_frames(connection, stream):
    """Section 4.1: ignored."""
    yield frame(0x42, 0xFF, stream, b"?" * 100) + frame(0xFF, 0, 0, b"?") + answer(stream)


@behaviour()
def goaway_after(connection, stream):
    yield answer(stream) + going_away(stream, 0)


@behaviour()
def goaway_gently(connection, stream):
    """Section 6.8: a warning, then the number of the last one."""
    yield going_away(0x7FFFFFFF, 0) + head(stream) + going_away(stream, 0) + data(stream)


@behaviour()
def one_byte_frames(connection, stream):
    yield head(stream)
    yield b"".join(data(stream, b"x", 0) for _ in range(10_000)) + data(stream, b"x")


@behaviour()
def padded(connection, stream):
    yield head(stream) + frame(DATA, END_STREAM | 8, stream, b"\xff" + b"ok" + bytes(255))


@behaviour()
def informational_few(connection, stream):
    yield head(stream, field(":status", "103")) * 5 + answer(stream)


@behaviour()
def trailers(connection, stream):
    yield head(stream) + data(stream, b"ok", 0) + head(stream, field("checksum", "1"), END_HEADERS | END_STREAM)


@behaviour()
def fields_of_60_kib(connection, stream):
    """Long, and within every limit."""
    yield long_head(stream, STATUS_200 + field("a", "b" * 20_000) * 3) + data(stream)


# The end of a connection, or of a stream.

@behaviour()
def goaway_before(connection, stream):
    """Not processed, so it may be sent again; here never successfully."""
    yield going_away(0, 0)
    connection.hang_up()


@behaviour()
def goaway_once(connection, stream):
    """The same on the first connection only."""
    if connection.number_here == 1:
        yield going_away(0, 0)
        connection.hang_up()
    yield answer(stream)


@behaviour()
def goaway_calm(connection, stream):
    yield going_away(stream, 11)
    connection.hang_up()


@behaviour()
def hang_up(connection, stream):
    connection.hang_up()


@behaviour()
def head_then_end(connection, stream):
    yield head(stream)
    connection.hang_up()


@behaviour()
def body_then_end(connection, stream):
    yield head(stream, STATUS_200 + field("content-length", "10")) + data(stream, b"half ", 0)
    connection.hang_up()


def resets(code):
    def act(connection, stream):
        yield reset(stream, code)
    return act


for code, code_name in enumerate(ERROR_CODES):
    BEHAVIOURS[f"rst_{code_name}"] = (resets(code), None, None)
BEHAVIOURS["rst_unknown"] = (resets(0xBADC0DE), None, None)


@behaviour()
def rst_in_body(connection, stream):
    yield head(stream) + data(stream, b"half ", 0) + reset(stream, 2)


@behaviour()
def rst_after_answer(connection, stream):
    """Section 8.1: the answer is whole all the same."""
    yield answer(stream) + reset(stream, 0)


@behaviour()
def rst_refused_once(connection, stream):
    if connection.number_here == 1 and stream == 1:
        yield reset(stream, 7)
    else:
        yield answer(stream)


# What breaks the rules of frames.

@behaviour()
def frame_too_long(connection, stream):
    yield head(stream) + frame(DATA, END_STREAM, stream, bytes(100_000))


CACHEABLE = STATUS_200 + field("cache-control", "max-age=60")


@behaviour()
def cacheable(connection, stream):
    yield head(stream, CACHEABLE + field("content-length", "2")) + data(stream)


@behaviour()
def cacheable_zipped(connection, stream):
    """Without a length, but its coding has an end of its own."""
    yield head(stream, CACHEABLE + field("content-encoding", "gzip")) + data(stream, gzip.compress(b"ok"))


@behaviour()
def cacheable_reset(connection, stream):
    """Not ended, but reset without an error."""
    yield head(stream, CACHEABLE) + data(stream, b"half ", 0)
    connection.await_reader()
    yield reset(stream, 0)


@behaviour()
def zipped_reset(connection, stream):
    zipped = gzip.compress(b"half of it")[:-10]
    yield head(stream, CACHEABLE + field("content-encoding", "gzip")) + data(stream, zipped, 0)
    connection.await_reader()
    yield reset(stream, 0)


@behaviour()
def length_reset(connection, stream):
    yield head(stream, CACHEABLE + field("content-length", "10")) + data(stream, b"half ", 0)
    connection.await_reader()
    yield reset(stream, 0)


@behaviour()
def cacheable_cut_off(connection, stream):
    yield head(stream, CACHEABLE) + data(stream, b"half ", 0) + frame(DATA, END_STREAM, stream, bytes(100_000))


@behaviour()
def cut_off_together(connection, stream):
    """Three at once, on the first connection."""
    if connection.number_here > 1:
        yield answer(stream)
    connection.streams.append(stream)
    if len(connection.streams) == 3:
        for one in connection.streams:
            yield head(one) + data(one, b"half ", 0)
        yield frame(DATA, END_STREAM, stream, bytes(100_000))


# What spoils an answer whose length was not told, behind the first of its body.

def spoiling(piece, fields=b"", calm=True):
    def act(connection, stream):
        yield head(stream, CACHEABLE + fields) + data(stream, b"half ", 0)
        if calm:
            connection.await_reader()
        yield piece(connection, stream)
    return act


def close_tls(connection, stream):
    """With a close_notify."""
    connection.socket.unwrap()
    raise End


def go_away(last, code):
    def act(connection, stream):
        connection.send(going_away(last if last is not None else stream, code))
        connection.hang_up()
    return act


SPOILT = {
    "padding_too_long": lambda _, stream: frame(DATA, END_STREAM | 8, stream, b"\xff" + b"ok"),
    "padding_on_nothing": lambda _, stream: frame(DATA, END_STREAM | 8, stream),
    "padding_of_all": lambda _, stream: frame(DATA, END_STREAM | 8, stream, b"\x02" + bytes(2)),
    "data_on_connection": lambda _, stream: frame(DATA, END_STREAM, 0, b"ok"),
    "frame_too_long": lambda _, stream: frame(DATA, END_STREAM, stream, bytes(100_000)),
    "ping_wrong_length": lambda _, stream: frame(PING, 0, 0, b"?"),
    "window_overflow": lambda _, stream: frame(WINDOW_UPDATE, 0, 0, struct.pack(">I", 0x7FFFFFFF)) * 2,
    "window_overflow_here": lambda _, stream: frame(WINDOW_UPDATE, 0, stream, struct.pack(">I", 0x7FFFFFFF)) * 2,
    "reset": lambda _, stream: reset(stream, 2),
    "open_trailers": lambda _, stream: head(stream, field("a", "b")) + data(stream, b"ok"),
    "goaway": go_away(None, 2),
    "goaway_behind": go_away(0, 2),
    "hang_up": lambda connection, _: connection.hang_up(),
    "close_notify": close_tls,
    "unknown_flags": lambda _, stream: frame(DATA, 0xF7, stream, b"ok"),
    "reset_behind_end": lambda _, stream: data(stream) + reset(stream, 2),
}
for spoilt_name, spoilt_piece in SPOILT.items():
    for calm in (True, False):
        BEHAVIOURS[f"{'' if calm else 'at_once_'}body_{spoilt_name}"] = (
            spoiling(spoilt_piece, calm=calm), None, None)
for length in (3, 7, 10):
    BEHAVIOURS[f"body_ends_at_7_of_{length}"] = (
        spoiling(lambda _, stream: data(stream), field("content-length", str(length))), None, None)
BEHAVIOURS["body_reset_at_length"] = (
    spoiling(lambda _, stream: reset(stream, 2), field("content-length", "5")), None, None)


@behaviour()
def cut_off_and_closed(connection, stream):
    """And the server goes, as it is told to (section 5.4.1)."""
    yield from cut_off_together(connection, stream)
    if len(connection.streams) == 3:
        connection.hang_up()


@behaviour()
def goaway_at_fourth(connection, stream):
    """Section 6.8: the four that count are answered."""
    connection.streams.append(stream)
    yield head(stream) + data(stream, b"o", 0)
    if len(connection.streams) == 4:
        yield going_away(stream, 0) + b"".join(data(one, b"k") for one in connection.streams)


@behaviour()
def settings_wrong_length(connection, stream):
    yield frame(SETTINGS, 0, 0, b"?") + answer(stream)


@behaviour()
def settings_on_a_stream(connection, stream):
    yield frame(SETTINGS, 0, stream) + answer(stream)


@behaviour()
def settings_window_too_large(connection, stream):
    yield frame(SETTINGS, 0, 0, setting(4, 0xFFFFFFFF)) + answer(stream)


@behaviour()
def ping_wrong_length(connection, stream):
    yield frame(PING, 0, 0, b"?") + answer(stream)


@behaviour()
def data_on_connection(connection, stream):
    yield frame(DATA, 0, 0, b"ok") + answer(stream)


@behaviour()
def data_on_idle_stream(connection, stream):
    yield frame(DATA, 0, stream + 100, b"ok") + answer(stream)


@behaviour()
def data_before_head(connection, stream):
    yield data(stream)


@behaviour()
def data_after_end(connection, stream):
    yield answer(stream) + data(stream)


@behaviour()
def padding_too_long(connection, stream):
    yield head(stream) + frame(DATA, END_STREAM | 8, stream, b"\xff" + b"ok")


@behaviour()
def window_update_zero(connection, stream):
    yield frame(WINDOW_UPDATE, 0, 0, bytes(4)) + answer(stream)


@behaviour()
def window_update_overflow(connection, stream):
    yield frame(WINDOW_UPDATE, 0, 0, struct.pack(">I", 0x7FFFFFFF)) * 2 + answer(stream)


@behaviour()
def push_promise(connection, stream):
    """We have said that we want none (section 6.6)."""
    block = b"\x82\x87" + field(":path", "/pushed") + field(":authority", "localhost")
    yield frame(PUSH_PROMISE, END_HEADERS, stream, struct.pack(">I", 2) + block) + answer(2) + answer(stream)


@behaviour()
def head_on_even_stream(connection, stream):
    yield head(2) + answer(stream)


@behaviour()
def continuation_alone(connection, stream):
    yield frame(CONTINUATION, END_HEADERS, stream, STATUS_200) + data(stream)


@behaviour()
def continuation_interrupted(connection, stream):
    yield head(stream, flags=0) + frame(PING, 0, 0, bytes(8)) + data(stream)


@behaviour(settings=lambda: b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")
def not_http2(connection, stream):
    return ()


@behaviour(settings=lambda: frame(PING, 0, 0, bytes(8)))
def no_settings(connection, stream):
    yield answer(stream)


# What breaks the rules of messages (section 8.1.1).

@behaviour()
def hpack_bad_index(connection, stream):
    yield head(stream, b"\xff\x80\x80\x80\x08") + data(stream)


@behaviour()
def hpack_bad_huffman(connection, stream):
    yield head(stream, STATUS_200 + b"\x00\x01a" + b"\x84\xff\xff\xff\xff") + data(stream)


@behaviour()
def no_status(connection, stream):
    yield head(stream, field("a", "b")) + data(stream)


@behaviour()
def status_text(connection, stream):
    yield head(stream, field(":status", "abc")) + data(stream)


@behaviour()
def status_101(connection, stream):
    """Section 8.6: not in HTTP/2."""
    yield head(stream, field(":status", "101")) + answer(stream)


@behaviour()
def status_twice(connection, stream):
    yield head(stream, STATUS_200 + STATUS_200) + data(stream)


@behaviour()
def request_pseudo_field(connection, stream):
    yield head(stream, STATUS_200 + field(":path", "/")) + data(stream)


@behaviour()
def upper_case_name(connection, stream):
    yield head(stream, STATUS_200 + field("X-Upper", "1")) + data(stream)


@behaviour()
def value_with_line_break(connection, stream):
    yield head(stream, STATUS_200 + field("a", "b\r\nset-cookie: c=d")) + data(stream)


@behaviour()
def value_with_nul(connection, stream):
    yield head(stream, STATUS_200 + field("a", b"b\0c")) + data(stream)


@behaviour()
def transfer_encoding(connection, stream):
    """Section 8.2.2: fields of a connection are not allowed."""
    yield head(stream, STATUS_200 + field("transfer-encoding", "chunked")) + data(stream, b"2\r\nok\r\n0\r\n\r\n")


@behaviour()
def length_too_long(connection, stream):
    yield head(stream, STATUS_200 + field("content-length", "10")) + data(stream)


@behaviour()
def length_too_short(connection, stream):
    yield head(stream, STATUS_200 + field("content-length", "1")) + data(stream)


@behaviour()
def lengths_differ(connection, stream):
    yield head(stream, STATUS_200 + field("content-length", "2") + field("content-length", "3")) + data(stream)


@behaviour()
def trailers_with_status(connection, stream):
    yield head(stream) + data(stream, b"ok", 0) + head(stream, STATUS_200, END_HEADERS | END_STREAM)


# What has no end.

def repeated(piece, count=200_000):
    """In sendings of some size; the peer may end it before."""
    batch = max(1, 65_536 // len(piece))
    for _ in range(count // batch):
        yield piece * batch


@behaviour()
def settings_flood(connection, stream):
    yield from repeated(frame(SETTINGS))
    yield answer(stream)


@behaviour()
def ping_flood(connection, stream):
    yield from repeated(frame(PING, 0, 0, bytes(8)))
    yield answer(stream)


@behaviour()
def priority_flood(connection, stream):
    yield from repeated(frame(PRIORITY, 0, 1_001, bytes(4) + b"\x10"))
    yield answer(stream)


@behaviour()
def window_update_flood(connection, stream):
    yield from repeated(frame(WINDOW_UPDATE, 0, 0, struct.pack(">I", 1)))
    yield answer(stream)


@behaviour()
def empty_data_flood(connection, stream):
    yield head(stream)
    yield from repeated(data(stream, b"", 0))
    yield data(stream)


@behaviour()
def unknown_flood(connection, stream):
    yield from repeated(frame(0x42, 0, 0, b"?" * 100), 100_000)
    yield answer(stream)


@behaviour()
def rst_flood(connection, stream):
    """Of streams that are not there (section 5.1)."""
    yield b"".join(reset(stream, 8) for _ in range(50_000))


@behaviour()
def continuation_flood(connection, stream):
    yield head(stream, STATUS_200, 0)
    yield from repeated(frame(CONTINUATION, 0, stream, field("a", "b" * 100)), 500_000)


@behaviour()
def continuation_empty_flood(connection, stream):
    yield head(stream, STATUS_200, 0)
    yield from repeated(frame(CONTINUATION, 0, stream), 500_000)


@behaviour()
def hpack_bomb(connection, stream):
    """4,000 bytes that are sent once and then named in one byte each: 64 MB of them."""
    block = STATUS_200 + b"\x40" + text("a") + text("b" * 3_900) + b"\xbe" * 16_000
    yield long_head(stream, block) + data(stream)


@behaviour()
def fields_many(connection, stream):
    yield long_head(stream, STATUS_200 + field("a", "b") * 4_000) + data(stream)


@behaviour()
def field_long(connection, stream):
    yield long_head(stream, STATUS_200 + field("a", "b" * 65_000) + field("c", "d" * 40_000)) + data(stream)


@behaviour()
def informational_endless(connection, stream):
    yield from repeated(head(stream, field(":status", "103")), 200_000)


@behaviour()
def trailers_long(connection, stream):
    yield head(stream) + data(stream, b"ok", 0)
    yield long_head(stream, field("a", "b" * 30_000) * 3, END_STREAM)


@behaviour()
def body_endless(connection, stream):
    """Beyond every window (section 6.9.1)."""
    yield head(stream)
    yield from repeated(data(stream, bytes(16_384), 0), 20_000)


def for_ever(piece):
    many = piece * (1_000_000 // len(piece))
    while True:
        yield many


@behaviour()
def priority_endless(connection, stream):
    yield from for_ever(frame(PRIORITY, 0, 1_001, bytes(4) + b"\x10"))


@behaviour()
def empty_data_endless(connection, stream):
    yield head(stream)
    yield from for_ever(data(stream, b"", 0))


@behaviour()
def unknown_endless(connection, stream):
    yield head(stream)
    yield from for_ever(frame(0x42, 0, 0, b"?" * 100))


@behaviour()
def push_flood(connection, stream):
    block = b"\x82\x87" + field(":path", "/pushed") + field(":authority", "localhost")
    yield b"".join(
        frame(PUSH_PROMISE, END_HEADERS, stream, struct.pack(">I", 2 * number) + block)
        for number in range(1, 10_000))
    yield answer(stream)


@behaviour()
def silence(connection, stream):
    return ()


@behaviour()
def silence_once(connection, stream):
    """The first connection is dead, and nobody has been told."""
    if connection.number_here > 1:
        yield answer(stream)


@behaviour()
def head_then_silence(connection, stream):
    yield head(stream)


@behaviour(settings=lambda: frame(SETTINGS, 0, 0, setting(4, 0)))
def window_zero(connection, stream):
    """A body may never be sent: for uploads."""
    return ()


@behaviour(settings=lambda: frame(SETTINGS, 0, 0, setting(3, 0)))
def no_streams(connection, stream):
    """SETTINGS_MAX_CONCURRENT_STREAMS of none."""
    yield answer(stream)


@behaviour()
def random(connection, stream):
    """A real answer that chance has spoilt."""
    if connection.chance is None:
        connection.chance = Chance(SEED, connection.number_here)
    piece, ending = connection.chance.answer(stream)
    yield piece
    if ending == "hang up":
        connection.hang_up()
    if ending == "close":
        raise End


def serve(name, listening):
    act, settings, greeting = BEHAVIOURS[name]
    for number in itertools.count(1):
        plain, _ = listening.accept()
        plain.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        connection = Connection(name, plain)
        connection.number_here = number
        threading.Thread(target=connection.run, args=(act, settings, greeting), daemon=True).start()


CONTEXT = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
CONTEXT.load_cert_chain(CERTIFICATE, KEY)
CONTEXT.set_alpn_protocols(["h2"])
for behaviour_name in BEHAVIOURS:
    listening_socket = socket.create_server(("127.0.0.1", 0), backlog=64)
    print(behaviour_name, listening_socket.getsockname()[1], flush=True)
    threading.Thread(target=serve, args=(behaviour_name, listening_socket), daemon=True).start()
print("ready", flush=True)
threading.Event().wait()
