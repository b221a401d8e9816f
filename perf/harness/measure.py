"""Runs the rows of a section, interleaved, each in a process of its own with a bound on its time."""

import json
import os
import shutil
import subprocess
import sys
import time

from cores import stay_on

# A client ends itself by its watchdog first; this is for one that lost it.
GRACE_SECONDS = 10


def interleaved(section, setting, rounds, out, runner=None):
    """All rows once, then all again: drift meets every row. Answers, per round, label -> what was printed."""
    out.write("section", machine=setting.machine, **section.record(setting.binaries.missing))
    answer = []
    for number in range(rounds):
        first = number % len(section.rows)  # nobody always follows the same neighbour
        done = {}
        for row in section.rows[first:] + section.rows[:first]:
            progress(section, row, number, rounds)
            record = (runner or run_row)(row, setting)
            if record is None:
                continue
            out.write("run", section=section.name, label=row.label, round=number, command=row.flags, **record)
            if good(record, row.errors_share):
                done[row.label] = record
            else:
                complain(section, row, record)
        answer.append(done)
    return answer


def good(record, errors_share=0):
    return "failure" not in record and record.get("errors", 0) <= errors_share * record.get("requests", 0)


def run_row(row, setting):
    """What the client printed; with `failure` if it did not end well; None if the client is missing."""
    if row.client not in setting.binaries.paths:
        return None
    other = start_beside(row.beside, setting.binaries.paths)
    try:
        command = command_of(row, setting.binaries.paths)
        if row.copies:
            return together([run_begin([*command, *more], row) for more in row.copies], row.seconds_max)
        return run_end(run_begin(command, row), row.seconds_max)
    finally:
        if other:
            other.kill()
            other.wait()
        for path in row.outputs:
            if os.path.isdir(path):
                shutil.rmtree(path)
            elif os.path.exists(path):
                os.unlink(path)


def start_beside(row, paths):
    """The process, which has had a second to begin; None if there is nothing to run or its client is missing."""
    if row is None or row.client not in paths:
        return None
    other = subprocess.Popen(command_of(row, paths), stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                             stderr=subprocess.DEVNULL)
    time.sleep(1)
    return other


def command_of(row, paths):
    """A client of ours, or a whole program below `measured`, which prints what the clients print."""
    limit = ["--limit-seconds", str(row.seconds_max)]
    if not row.program_requests:
        return [paths[row.client], *limit, *row.flags]
    return [paths["measured"], *limit, "--requests", str(row.program_requests), "--", paths[row.client], *row.flags]


def run(command, seconds_max, environment=None):
    return run_end(run_begin(command, environment=environment), seconds_max)


def run_begin(command, row=None, environment=None):
    """The process. One with cores of its own never runs on others, not even at its start."""
    environment = environment or (row.environment if row else {})
    return subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                            env={**os.environ, **environment}, preexec_fn=stay_on(row.cores) if row else None)


def run_end(process, seconds_max):
    try:
        output, errors = process.communicate(timeout=seconds_max + GRACE_SECONDS)
    except subprocess.TimeoutExpired:
        return {"failure": f"still running after {seconds_max + GRACE_SECONDS} s"}
    finally:
        if process.poll() is None:
            process.kill()
            process.communicate()
    if process.returncode == 0:
        return json.loads(output)
    last = (errors.strip().splitlines() or [""])[-1]
    return {"failure": f"status {process.returncode}: {last}"[:500]}


def together(processes, seconds_max):
    """What several did at the same time: their rates and memory added up, the cost of a request in the middle of them."""
    records = [run_end(process, seconds_max) for process in processes]
    failed = [record for record in records if "failure" in record]
    if failed:
        return failed[0]
    added = ("requests", "requests_per_second", "rss_max_bytes", "errors")
    answer = {key: sum(record[key] for record in records) for key in added}
    for key in ("cpu_us_per_request", "cpu_user_us_per_request", "p50_us"):
        answer[key] = sum(record[key] for record in records) / len(records)
    return {"client": records[0]["client"], "mode": records[0]["mode"], "processes": len(records), **answer}


def complain(section, row, record):
    why = record.get("failure") or f"{record['errors']} of its requests failed"
    print(f"\n{section.name}, {row.label}: {why}", file=sys.stderr)


def progress(section, row, number, rounds):
    if sys.stderr.isatty():
        print(f"\r\033[K{section.name} round {number + 1} of {rounds}: {row.label}", end="", file=sys.stderr, flush=True)
