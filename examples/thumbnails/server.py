"""Serves pictures like those of `netspool demo`, only larger: server.py COUNT

`/thumbs/N` is a PNG of 320 x 240 pixels, fresh for an hour; `/requests` says how many were asked for. Prints `ready PORT`.
"""

import colorsys
import http.server
import math
import struct
import sys
import threading
import zlib

WIDTH, HEIGHT = 320, 240


def chunk(kind, data):
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))


def colour(hue, light):
    return bytes(int(part * 255) for part in colorsys.hls_to_rgb(hue % 1, light, 0.65))


def picture(number):
    """A disc before a sky; which disc and which sky follows from the number."""
    hue = number * 0.618
    radius = 40 + number * 7 % 50
    x, y = WIDTH // 2 + number * 13 % 61 - 30, HEIGHT // 2 + number * 11 % 41 - 20
    disc = colour(hue + 0.45, 0.6)
    rows = []
    for row in range(HEIGHT):
        sky = colour(hue, 0.25 + 0.5 * row / HEIGHT)
        half = math.isqrt(max(0, radius * radius - (row - y) ** 2))
        rows.append(b"\0" + sky * (x - half) + disc * (2 * half) + sky * (WIDTH - x - half))
    head = struct.pack(">IIBBBBB", WIDTH, HEIGHT, 8, 2, 0, 0, 0)
    return (b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head) + chunk(b"IDAT", zlib.compress(b"".join(rows), 6))
            + chunk(b"IEND", b""))


class Pictures(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    wbufsize = -1
    all = []
    lock = threading.Lock()
    requests = 0

    def log_message(self, *_):
        pass

    def do_GET(self):
        if self.path == "/requests":
            return self.answer(200, b"%d\n" % Pictures.requests, "text/plain")
        with Pictures.lock:
            Pictures.requests += 1
        number = self.path.rpartition("/")[2]
        if not number.isdigit() or int(number) >= len(Pictures.all):
            return self.answer(404, b"no such picture\n", "text/plain")
        self.answer(200, Pictures.all[int(number)], "image/png")

    def answer(self, status, body, kind):
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(body)))
        if status == 200 and kind == "image/png":
            self.send_header("Cache-Control", "max-age=3600")
        self.end_headers()
        self.wfile.write(body)


class Server(http.server.ThreadingHTTPServer):
    request_queue_size = 128
    daemon_threads = True


if __name__ == "__main__":
    Pictures.all = [picture(number) for number in range(int(sys.argv[1]))]
    with Server(("127.0.0.1", 0), Pictures) as server:
        print("ready", server.server_port, flush=True)
        server.serve_forever()
