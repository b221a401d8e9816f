"""The private nginx, for as long as a `with` block lasts."""

import json
import os
import subprocess

from build import PERF

LIFE_SECONDS = 6 * 3600


class Origin:
    """`http`, `https`: URL prefixes. `ca`: the file of the certificate to trust."""

    def __init__(self, within, large_bytes):
        self.command = [os.path.join(PERF, "origin", "serve"), "--within", within, "--large", str(large_bytes),
                        "--life", str(LIFE_SECONDS)]

    def __enter__(self):
        self.process = subprocess.Popen(self.command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        line = self.process.stdout.readline()
        if not line:
            self.__exit__()
            raise SystemExit("the origin did not start")
        described = json.loads(line)
        self.http, self.https, self.ca = described["http"], described["https"], described["ca"]
        return self

    def __exit__(self, *_):
        self.process.stdin.close()  # it ends when its input does
        try:
            self.process.wait(timeout=15)
        except subprocess.TimeoutExpired:
            self.process.terminate()
            self.process.wait(timeout=15)
        self.process.stdout.close()
