"""A small storage server that lets nobody in without a Signature Version 4: server.py REGION SERVICE KEY=SECRET[=TOKEN]...

It listens on a port of 127.0.0.1 that the system chooses and prints `ready PORT`. It goes by what came over the wire and
shares nothing with who signed: 200 `KEY METHOD PAYLOAD BYTES` for a good signature, 403 and the text it would have signed
for any other. PUT keeps a body, GET gives it back. A path that ends in `/again` is redirected once to the same without it;
`/busy` answers 503 to every first request.
"""

import datetime
import hashlib
import hmac
import re
import socketserver
import sys
import threading
import urllib.parse
from http.server import BaseHTTPRequestHandler

REGION, SERVICE = sys.argv[1:3]
ACCOUNTS = {word.split("=")[0]: (word.split("=", 2) + [""])[1:3] for word in sys.argv[3:]}
KEPT = {}
ASKED = set()
LOCK = threading.Lock()


def mac(key, text):
    return hmac.new(key, text.encode(), hashlib.sha256).digest()


def canonical_path(path):
    if SERVICE == "s3":
        return urllib.parse.quote(urllib.parse.unquote_to_bytes(path), safe="/-_.~")
    return urllib.parse.quote(re.sub("/+", "/", path), safe="/-_.~")


def canonical_query(query):
    pairs = []
    for pair in query.split("&") if query else []:
        name, _, value = pair.partition("=")
        pairs.append(tuple(urllib.parse.quote(urllib.parse.unquote_plus(part), safe="-_.~") for part in (name, value)))
    return "&".join(f"{name}={value}" for name, value in sorted(pairs))


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *arguments):
        pass

    def read_body(self):
        if "chunked" not in self.headers.get("Transfer-Encoding", ""):
            return self.rfile.read(int(self.headers.get("Content-Length", 0)))
        body = b""
        while size := int(self.rfile.readline().split(b";")[0], 16):
            body += self.rfile.read(size)
            self.rfile.readline()
        self.rfile.readline()
        return body

    def judge(self, body):
        """The key that signed; or why it is not good."""
        match = re.fullmatch(
            r"AWS4-HMAC-SHA256 Credential=([^/ ]+)/(\d{8})/([^/]+)/([^/]+)/aws4_request, SignedHeaders=([^ ]+), "
            r"Signature=([0-9a-f]{64})", self.headers.get("Authorization", ""))
        if not match:
            return None, "no signature"
        key, day, region, service, names, signature = match.groups()
        stamp = self.headers.get("X-Amz-Date", "")
        now = datetime.datetime.now(datetime.timezone.utc)
        try:
            then = datetime.datetime.strptime(stamp, "%Y%m%dT%H%M%SZ").replace(tzinfo=datetime.timezone.utc)
        except ValueError:
            return None, "no date"
        if abs((now - then).total_seconds()) > 900 or not stamp.startswith(day):
            return None, "skewed"
        if (region, service) != (REGION, SERVICE) or key not in ACCOUNTS:
            return None, "scope"
        secret, token = ACCOUNTS[key]
        if token != self.headers.get("X-Amz-Security-Token", ""):
            return None, "token"
        names = names.split(";")
        needed = {"host"} | {name.lower() for name in self.headers if name.lower().startswith("x-amz-")}
        if not needed <= set(names) or names != sorted(names):
            return None, "fields"
        payload = self.headers.get("X-Amz-Content-Sha256", hashlib.sha256(body).hexdigest())
        if payload not in ("UNSIGNED-PAYLOAD", hashlib.sha256(body).hexdigest()):
            return None, "payload"
        path, _, query = self.path.partition("?")
        fields = "".join(
            f"{name}:{','.join(' '.join(value.split()) for value in self.headers.get_all(name, []))}\n" for name in names)
        request = "\n".join(
            [self.command, canonical_path(path), canonical_query(query), fields, ";".join(names), payload])
        scope = f"{day}/{region}/{service}/aws4_request"
        text = "\n".join(["AWS4-HMAC-SHA256", stamp, scope, hashlib.sha256(request.encode()).hexdigest()])
        part = ("AWS4" + secret).encode()
        for word in (day, region, service, "aws4_request"):
            part = mac(part, word)
        if not hmac.compare_digest(mac(part, text).hex(), signature):
            return None, request
        return key, payload if payload == "UNSIGNED-PAYLOAD" else "signed"

    def answer(self, status, text, *fields):
        body = text if isinstance(text, bytes) else text.encode()
        self.send_response(status)
        for name, value in fields:
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(body)

    def serve(self):
        body = self.read_body()
        key, said = self.judge(body)
        if key is None:
            return self.answer(403, said)
        path = self.path.partition("?")[0]
        if path.endswith("/again"):
            return self.answer(302, "", ("Location", path.removesuffix("/again")))
        with LOCK:
            isFirst = path not in ASKED
            ASKED.add(path)
        if path.endswith("/busy") and isFirst:
            return self.answer(503, "busy")
        if self.command == "PUT":
            KEPT[path] = body
        if self.command == "GET" and path in KEPT:
            return self.answer(200, KEPT[path])
        self.answer(200, f"{key} {self.command} {said} {len(body)}")

    do_GET = do_HEAD = do_POST = do_PUT = do_DELETE = serve


class Server(socketserver.ThreadingTCPServer):
    daemon_threads = True
    request_queue_size = 128


with Server(("127.0.0.1", 0), Handler) as server:
    print(f"ready {server.server_address[1]}", flush=True)
    server.serve_forever()
