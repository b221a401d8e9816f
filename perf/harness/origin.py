"""The origins, for as long as a `with` block lasts. They end when their input does, so also when we are killed."""

import json
import os
import subprocess

from build import PERF

LIFE_SECONDS = 6 * 3600
WAIT_MILLISECONDS = 2


class Server:
    """A program that prints one line of JSON once it answers."""

    def __init__(self, command):
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        line = self.process.stdout.readline()
        if not line:
            self.stop()
            raise SystemExit(f"{os.path.basename(command[0])} did not start")
        self.described = json.loads(line)

    def stop(self):
        self.process.stdin.close()
        try:
            self.process.wait(timeout=60)
        except subprocess.TimeoutExpired:
            self.process.terminate()
            self.process.wait(timeout=60)
        self.process.stdout.close()


class Origin:
    """`http`, `https`: URL prefixes of nginx. `ca`: the certificate to trust. `waiting`: of the one that waits."""

    def __init__(self, within, large_bytes, waiting_program):
        self.nginx_command = [os.path.join(PERF, "origin", "serve"), "--within", within,
                              "--large", str(large_bytes), "--life", str(LIFE_SECONDS)]
        self.waiting_command = [waiting_program, str(WAIT_MILLISECONDS), str(LIFE_SECONDS)]
        self.servers = []

    def __enter__(self):
        try:
            for command in (self.nginx_command, self.waiting_command):
                self.servers.append(Server(command))
        except BaseException:
            self.__exit__()
            raise
        nginx, waiting = (server.described for server in self.servers)
        self.http, self.https, self.ca, self.waiting = nginx["http"], nginx["https"], nginx["ca"], waiting["http"]
        return self

    def __exit__(self, *_):
        for server in self.servers:
            server.stop()
