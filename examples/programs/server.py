"""Takes the photos that Upload sends, and keeps them: server.py FOLDER [PORT]

Prints `ready PORT`. A photo is kept under the digest of its bytes, whatever its sender calls it.
"""

import email
import email.policy
import hashlib
import http.server
import pathlib
import sys

FOLDER = pathlib.Path(sys.argv[1])
BYTES_MAX = 32 << 20


class Photos(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *_):
        pass

    def do_POST(self):
        count = int(self.headers.get("Content-Length", 0))
        if count > BYTES_MAX:
            return self.answer(413, "too large")
        head = f"Content-Type: {self.headers['Content-Type']}\r\n\r\n".encode()
        form = email.message_from_bytes(head + self.rfile.read(count), policy=email.policy.HTTP)
        parts = {part.get_param("name", header="content-disposition"): part for part in form.iter_parts()}
        if "photo" not in parts or "title" not in parts:
            return self.answer(400, "title and photo, please")
        photo = parts["photo"].get_payload(decode=True)
        name = hashlib.sha256(photo).hexdigest() + ".jpg"
        (FOLDER / name).write_bytes(photo)
        self.answer(201, f"{parts['title'].get_content().strip()}: {len(photo)} bytes as {name}")

    def answer(self, status, text):
        self.send_response(status)
        self.send_header("Content-Length", str(len(text.encode())))
        if status == 413:
            self.send_header("Connection", "close")
            self.close_connection = True
        self.end_headers()
        self.wfile.write(text.encode())


if __name__ == "__main__":
    port = int(sys.argv[2]) if len(sys.argv) > 2 else 0
    with http.server.ThreadingHTTPServer(("127.0.0.1", port), Photos) as server:
        print("ready", server.server_port, flush=True)
        server.serve_forever()
