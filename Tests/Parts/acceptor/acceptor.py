"""A small HTTP/1.1 server that asks for credentials: acceptor.py DIRECTORY

It listens on a port of 127.0.0.1 that the system chooses and prints `ready PORT`. Users are in
DIRECTORY/users, lines of `domain:name:password`. Every request is a line of
DIRECTORY/access.log:

    connection number method target status user scheme body-bytes

  /ntlm/...             NTLM, one context per connection; a signed-in connection stays so
  /ntlm/forever/...     the same, but never content
  /ntlm/cut/...         closes the connection after the challenge
  /digest/ALGORITHM/QOP/...  Digest as in RFC 7616: MD5, SHA-256, MD5-sess, SHA-256-sess; auth or auth-int
  /digest/ALGORITHM/QOP/stale/...  every nonce is good for one request
  /digest/ALGORITHM/QOP/forever/...  the same, but never content, and no nonce is called stale
  everything else       needs no credentials
  ...?to=URL            answers 302 to there once content
"""

import base64
import hashlib
import itertools
import os
import re
import secrets
import socketserver
import sys
import threading
import urllib.parse
from http.server import BaseHTTPRequestHandler

import spnego

DIRECTORY = sys.argv[1]
USERS = {}
LOG = open(f"{DIRECTORY}/access.log", "a", buffering=1)
CONNECTIONS = itertools.count(1)
NONCES = {}
LOCK = threading.Lock()
HASHES = {"MD5": hashlib.md5, "SHA-256": hashlib.sha256}


def read_users():
    with open(f"{DIRECTORY}/users") as lines:
        for line in lines:
            domain, name, password = line.rstrip("\n").split(":")
            USERS[name] = password
    # Where pyspnego's own acceptor looks for them.
    os.environ["NTLM_USER_FILE"] = f"{DIRECTORY}/users"


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True

    def setup(self):
        super().setup()
        self.connection_number = next(CONNECTIONS)
        self.request_number = 0
        self.context = None
        self.ntlm_user = None

    def log_message(self, *arguments):
        pass

    def handle_one_request(self):
        try:
            super().handle_one_request()
        except (ConnectionError, BrokenPipeError):
            self.close_connection = True

    def read_body(self):
        if "chunked" not in self.headers.get("Transfer-Encoding", ""):
            return self.rfile.read(int(self.headers.get("Content-Length", 0)))
        body = b""
        while size := int(self.rfile.readline().split(b";")[0], 16):
            body += self.rfile.read(size)
            self.rfile.readline()
        while self.rfile.readline().strip():
            pass
        return body

    def answer(self, status, fields=(), text=""):
        authorization = self.headers.get("Authorization", "-").split(" ")[0]
        LOG.write(
            f"{self.connection_number} {self.request_number} {self.command} {self.path} {status} "
            f"{self.user or '-'} {authorization} {len(self.body)}\n")
        body = text.encode()
        self.send_response_only(status)
        for name, value in fields:
            self.send_header(name, value)
        self.send_header("Content-Type", "text/plain; charset=utf-8")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(body)

    def handle_request(self):
        self.request_number += 1
        self.body = self.read_body()
        self.user = None
        if self.path.startswith("/ntlm/"):
            self.serve_ntlm()
        elif self.path.startswith("/digest/"):
            self.serve_digest()
        else:
            self.welcome(None)

    do_GET = do_HEAD = do_POST = do_PUT = do_DELETE = handle_request

    def welcome(self, user):
        self.user = user
        target = urllib.parse.parse_qs(urllib.parse.urlsplit(self.path).query).get("to")
        if target:
            self.answer(302, [("Location", target[0])])
        else:
            digest = hashlib.sha256(self.body).hexdigest() if self.body else "none"
            self.answer(200, text=f"user={user} body={digest}\n")

    # NTLM: the connection is what is signed in.

    def serve_ntlm(self):
        scheme, _, token = self.headers.get("Authorization", "").partition(" ")
        if scheme.upper() != "NTLM":
            if self.ntlm_user:
                return self.welcome(self.ntlm_user)
            return self.answer(401, [("WWW-Authenticate", "NTLM")])
        try:
            message = base64.b64decode(token, validate=True)
        except ValueError:
            return self.answer(400)
        # Message 1 begins a new handshake, whatever there was before.
        if message[:12] == b"NTLMSSP\0\1\0\0\0":
            self.context = spnego.server(protocol="ntlm")
            self.ntlm_user = None
        self.step(message)

    def step(self, message):
        if self.context is None:
            return self.answer(401, [("WWW-Authenticate", "NTLM")])
        try:
            reply = self.context.step(message)
        except Exception:
            self.context = None
            return self.answer(401, [("WWW-Authenticate", "NTLM")])
        if reply:
            if "/cut/" in self.path:
                self.close_connection = True
            fields = [("WWW-Authenticate", "NTLM " + base64.b64encode(reply).decode())]
            if self.close_connection:
                fields.append(("Connection", "close"))
            return self.answer(401, fields)
        user = self.context.client_principal.split("\\")[-1]
        self.context = None
        if "/forever/" in self.path:
            return self.answer(401, [("WWW-Authenticate", "NTLM")])
        self.ntlm_user = user
        self.welcome(user)

    # Digest: every request is signed.

    def serve_digest(self):
        _, _, algorithm, qop, *rest = self.path.split("/")
        scheme, _, fields = self.headers.get("Authorization", "").partition(" ")
        if scheme.lower() != "digest":
            return self.challenge(algorithm, qop)
        given = {
            name.lower(): quoted or plain
            for name, quoted, plain in re.findall(r'(\w+)=(?:"([^"]*)"|([^\s,]*))', fields)
        }
        user = given.get("username", "")
        if given.get("response") != self.expected(given, algorithm, qop) or "forever" in rest:
            return self.challenge(algorithm, qop)
        if not self.use(given, once="stale" in rest):
            return self.challenge(algorithm, qop, stale=True)
        self.welcome(user)

    def challenge(self, algorithm, qop, stale=False):
        nonce = secrets.token_hex(16)
        with LOCK:
            NONCES[nonce] = 0
        text = f'Digest realm="tests", nonce="{nonce}", qop="{qop}", algorithm={algorithm}, opaque="o"'
        self.answer(401, [("WWW-Authenticate", text + (", stale=true" if stale else ""))])

    def use(self, given, once):
        """Whether the nonce is ours and its count goes up."""
        with LOCK:
            last = NONCES.get(given.get("nonce"), None)
            count = int(given.get("nc", "0"), 16)
            if last is None or count <= last or (once and last > 0):
                return False
            NONCES[given["nonce"]] = count
            return True

    def expected(self, given, algorithm, qop):
        make = HASHES[algorithm.removesuffix("-sess")]
        hash = lambda *parts: make(b":".join(p if isinstance(p, bytes) else p.encode() for p in parts)).hexdigest()
        user = given.get("username", "")
        if user not in USERS or given.get("uri") != self.path or given.get("qop") != qop:
            return None
        first = hash(user, "tests", USERS[user])
        if algorithm.endswith("-sess"):
            first = hash(first, given["nonce"], given["cnonce"])
        second = hash(self.command, self.path)
        if qop == "auth-int":
            second = hash(self.command, self.path, make(self.body).hexdigest())
        return hash(first, given["nonce"], given.get("nc", ""), given.get("cnonce", ""), qop, second)


class Server(socketserver.ThreadingTCPServer):
    daemon_threads = True
    request_queue_size = 256

    def handle_error(self, request, client_address):
        if not isinstance(sys.exc_info()[1], ConnectionError):
            super().handle_error(request, client_address)


read_users()
with Server(("127.0.0.1", 0), Handler) as server:
    print("ready", server.server_address[1], flush=True)
    server.serve_forever()
