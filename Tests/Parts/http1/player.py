"""An HTTP/1.1 server (RFC 9112) that never ends, or says more than it was asked: player.py DIRECTORY CERTIFICATE KEY

For each behaviour below, without TLS and (its name begins with `tls_`) with it, it listens on a port of 127.0.0.1 that
the system chooses and prints `NAME PORT`; then `ready`. Every request is a line of DIRECTORY/access.log,
`NAME CONNECTION NUMBER`, both counted from 1, written before anything is answered; and once all of the answer has been
sent, the same line of DIRECTORY/sent.log.
"""

import itertools
import socket
import ssl
import sys
import threading

DIRECTORY, CERTIFICATE, KEY = sys.argv[1:4]
LOG = open(f"{DIRECTORY}/access.log", "a", buffering=1)
SENT = open(f"{DIRECTORY}/sent.log", "a", buffering=1)
BEHAVIOURS = {}
OK = b"HTTP/1.1 200 OK\r\n"
CHUNKED = OK + b"Transfer-Encoding: chunked\r\n\r\n"
EVIL = OK + b"Content-Length: 4\r\nCache-Control: max-age=60\r\n\r\nEVIL"


def behaviour(act):
    BEHAVIOURS[act.__name__] = act
    return act


def text(body, head=OK):
    return head + b"Content-Length: %d\r\n\r\n" % len(body) + body


@behaviour
def ok(number):
    yield text(b"ok")


@behaviour
def head_alone(number):
    """Its body never comes."""
    yield OK + b"Content-Length: 4\r\n\r\n"
    threading.Event().wait()


@behaviour
def endless_body(number):
    yield OK + b"Content-Length: 1000000000000\r\n\r\n"
    piece = bytes(1 << 20)
    while True:
        yield piece


@behaviour
def endless_chunks(number):
    yield CHUNKED
    piece = b"10\r\n0123456789abcdef\r\n" * 50_000
    while True:
        yield piece


@behaviour
def endless_single_bytes(number):
    yield CHUNKED
    piece = b"1\r\nx\r\n" * 50_000
    while True:
        yield piece


@behaviour
def endless_extension(number):
    yield CHUNKED + b"5;x="
    piece = b"a" * (1 << 20)
    while True:
        yield piece


@behaviour
def endless_trailers(number):
    yield CHUNKED + b"0\r\n"
    piece = b"X-Trailer: value\r\n" * 50_000
    while True:
        yield piece


@behaviour
def endless_informational(number):
    piece = b"HTTP/1.1 103 Early Hints\r\n\r\n" * 40_000
    while True:
        yield piece


@behaviour
def surplus_together(number):
    """The answer, and one that nobody asked for, in one write: with TLS in one record."""
    yield text(b"first") + EVIL if number == 1 else text(b"next")


@behaviour
def surplus_behind(number):
    yield text(b"first") if number == 1 else text(b"next")
    if number == 1:
        yield EVIL


@behaviour
def surplus_behind_chunks(number):
    yield CHUNKED + b"5\r\nfirst\r\n0\r\n\r\n" + EVIL if number == 1 else text(b"next")


@behaviour
def surplus_behind_no_content(number):
    yield b"HTTP/1.1 204 No Content\r\n\r\n" + EVIL if number == 1 else text(b"next")


@behaviour
def old_chunks(number):
    """HTTP/1.0 has no chunks (RFC 9112 section 6.1)."""
    yield b"HTTP/1.0 200 OK\r\nConnection: keep-alive\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nfirst\r\n0\r\n\r\n"


def serve(name, act, plain, connection):
    try:
        stream = CONTEXT.wrap_socket(plain, server_side=True) if name.startswith("tls_") else plain
        held = b""
        for number in itertools.count(1):
            while b"\r\n\r\n" not in held:
                more = stream.recv(65_536)
                if not more:
                    return
                held += more
            held = held.split(b"\r\n\r\n", 1)[1]
            LOG.write(f"{name} {connection} {number}\n")
            for piece in act(number):
                stream.sendall(piece)
            SENT.write(f"{name} {connection} {number}\n")
    except (OSError, ssl.SSLError):
        pass
    finally:
        plain.close()


def listen(name, act, listening):
    for connection in itertools.count(1):
        plain, _ = listening.accept()
        plain.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        threading.Thread(target=serve, args=(name, act, plain, connection), daemon=True).start()


CONTEXT = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
CONTEXT.load_cert_chain(CERTIFICATE, KEY)
for behaviour_name, behaviour_act in BEHAVIOURS.items():
    for prefix in ("", "tls_"):
        listening_socket = socket.create_server(("127.0.0.1", 0), backlog=64)
        print(prefix + behaviour_name, listening_socket.getsockname()[1], flush=True)
        threading.Thread(
            target=listen, args=(prefix + behaviour_name, behaviour_act, listening_socket), daemon=True).start()
print("ready", flush=True)
threading.Event().wait()
