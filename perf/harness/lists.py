"""Whole programs that fetch lists: curl -Z, aria2, and the library's own command line tool."""

import os

from parts import Row

IN_FLIGHT = 64
FILES = 10_000  # that the origin has
EIGHT_KIB = "t", FILES  # a folder, and how many files are in it


def curl(s, label, prefix, *more):
    """All requests of the section in one process, the bodies thrown away."""
    path = write(s, f"{file_name(label)}-{len(more)}.curl", globs(prefix, s.scale.requests))
    return Row(label, "curl", [*curl_flags(path), *more], program_requests=s.scale.requests)


def curl_flags(config):
    return ["--no-progress-meter", "--fail", "--parallel", "--parallel-max", str(IN_FLIGHT), "--config", config]


def globs(prefix, requests):
    """curl counts through a range by itself, and asks for as many files as there are at a time."""
    for first in range(0, requests, FILES):
        count = min(FILES, requests - first)
        yield f'url = "{prefix}/t/[000001-{count:06d}].bin"\noutput = "/dev/null"\n'


def curl_download(s):
    path = f"{s.work}/download-curl.bin"
    return Row("curl, 1 file", "curl", ["--silent", "--show-error", "--fail", "--output", path, f"{s.origin.http}/large.bin"],
               [path], program_requests=1)


def aria2_download(s):
    name = "download-aria2.bin"
    return Row("aria2, 1 file", "aria2",
               [*ARIA2, "--max-connection-per-server=1", "--dir", s.work, "--out", name, f"{s.origin.http}/large.bin"],
               [f"{s.work}/{name}"], program_requests=1)


# Quiet, and without what it would otherwise do to disk and network beside the download.
ARIA2 = ["--no-conf=true", "--quiet=true", "--file-allocation=none", "--allow-overwrite=true", "--async-dns=false",
         "--enable-dht=false"]


def tool_list(s, count, folder="k", files=64):
    """The library's command line tool, without its cache: as the others, it fetches and forgets."""
    path = write(s, f"{folder}-{count}.list", (f"{url}\n" for url in urls(s, count, folder, files)))
    flags = ["fetch", path, "--no-cache", "--jobs", str(IN_FLIGHT), "--quiet"]
    return Row(label("netspool fetch", count), "cli", flags, **whole(count))


def curl_list(s, count, folder="k", files=64):
    lines = (f'url = "{url}"\noutput = "/dev/null"\n' for url in urls(s, count, folder, files))
    path = write(s, f"{folder}-{count}.list.curl", lines)
    return Row(label("curl -Z", count), "curl", curl_flags(path), **whole(count))


def aria2_list(s, count, *more, name="aria2"):
    """It writes files: of a kilobyte each, which go when it has ended."""
    folder = f"{s.work}/{file_name(name)}-{count}"
    path = write(s, f"{count}.list.aria2", (f"{url}\n out={number}\n" for number, url in enumerate(urls(s, count))))
    flags = [*ARIA2, *more, "--max-concurrent-downloads", str(IN_FLIGHT), "--dir", folder, "--input-file", path]
    return Row(label(name, count), "aria2", flags, [folder], **whole(count))


def label(name, count):
    return f"{name}, {count:,} URLs"


def whole(count):
    """A program of its own, which may take its time."""
    return {"program_requests": count, "seconds_max": 180}


def urls(s, count, folder="k", files=64):
    """All different; of 1 KiB each unless it is another folder's."""
    return (f"{s.origin.http}/{folder}/{number % files + 1:06d}.bin?{number}" for number in range(count))


def file_name(text):
    return "".join(letter if letter.isalnum() else "-" for letter in text)


def write(s, name, lines):
    path = os.path.join(s.work, name)
    with open(path, "w", encoding="ascii") as out:
        out.writelines(lines)
    return path
