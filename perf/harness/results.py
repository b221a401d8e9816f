"""Raw results: one JSON object a line, each with its kind (machine, run, verdict)."""

import json
import os
import time

from build import PERF


class Writer:
    def __init__(self, path=None):
        self.path = path or os.path.join(PERF, "results", time.strftime("%Y%m%d-%H%M%S.jsonl"))

    def __enter__(self):
        os.makedirs(os.path.dirname(os.path.abspath(self.path)), exist_ok=True)
        self.file = open(self.path, "w")
        return self

    def __exit__(self, *_):
        self.file.close()

    def write(self, kind, **fields):
        json.dump({"kind": kind, **fields}, self.file)
        self.file.write("\n")
        self.file.flush()  # an interrupted run keeps what it has


def read(path):
    with open(path) as lines:
        return [json.loads(line) for line in lines if line.strip()]
