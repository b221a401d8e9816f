"""The origins, for as long as a `with` block lasts. They end when their input does, so also when we are killed."""

import json
import os
import subprocess

import cores
from build import PERF

LIFE_SECONDS = 6 * 3600
WAIT_MILLISECONDS = 2


class Server:
    """A program that prints one line of JSON once it answers."""

    def __init__(self, command, on_cores=()):
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
                                        preexec_fn=cores.stay_on(on_cores))
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
    """`http`, `https`: URL prefixes of nginx. `ca`: the certificate to trust. `waiting`: of the one that waits. `sick_http`,
    `sick_https`: of another nginx, which is not to slow the first down when it shakes hands with those who then refuse it.
    `prompt`: of the one that answers at once, on all of the servers' cores; only where its program and the cores are given."""

    def __init__(self, within, large_bytes, waiting_program, prompt_program=None, apart=None):
        serve = ["bash", os.path.join(PERF, "origin", "serve"), "--within", within, "--life", str(LIFE_SECONDS)]
        self.commands = [[*serve, "--large", str(large_bytes)],
                         [waiting_program, str(WAIT_MILLISECONDS), str(LIFE_SECONDS)],
                         [*serve, "--files", "64", "--large", "1"]]
        self.prompt_program, self.apart = prompt_program, apart
        self.servers = []

    def __enter__(self):
        try:
            for command in self.commands:
                self.servers.append(Server(command))
            if self.prompt_program:
                threads = str(len(self.apart.servers))
                self.servers.append(Server([self.prompt_program, threads, str(LIFE_SECONDS)], self.apart.servers))
        except BaseException:
            self.__exit__()
            raise
        nginx, waiting, sick, *prompt = (server.described for server in self.servers)
        self.http, self.https, self.ca, self.waiting = nginx["http"], nginx["https"], nginx["ca"], waiting["http"]
        self.sick_http, self.sick_https = sick["http"], sick["https"]
        self.prompt = prompt[0]["http"] if prompt else None
        return self

    def __exit__(self, *_):
        for server in self.servers:
            server.stop()
