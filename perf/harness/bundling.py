"""What is in a bundle, and where: `bin` has links to `launch`, which starts what lies in `programs` with `lib`."""

import glob
import json
import os
import re
import shutil
import subprocess
import sys
import sysconfig
import tarfile

import build
import machine

NAME = "netspool-perf"
# What perf/run and origin/serve call.
TOOLS = ["bash", "cat", "curl", "dirname", "head", "id", "mkdir", "mktemp", "nginx", "openssl", "rm", "sed", "seq", "setpriv",
         "sleep", "split", "timeout", "truncate"]
SCRIPTS = ["run", "report", "claims", "compare"]
# Of python's library; what is left is read by nobody here.
UNREAD = {"__pycache__", "test", "tests", "idlelib", "tkinter", "turtledemo", "lib2to3", "ensurepip", "pydoc_data", "distutils",
          "site-packages"}
SERVERS_PATH = ":/usr/sbin:/usr/local/sbin"
# Opened at run time, where ldd does not see them.
OPENED = ["libgcc_s.so.1", "libnss_files.so.2", "libnss_dns.so.2"]
# For who makes the folder his root.
ACCOUNTS = {"passwd": "root:x:0:0:root:/tmp:/bin/bash\n", "group": "root:x:0:\n",
            "hosts": "127.0.0.1 localhost\n", "nsswitch.conf": "hosts: files\npasswd: files\ngroup: files\n"}


def fill(folder, binaries, scratch):
    root = os.path.join(folder, NAME)
    for name in ("bin", "programs", "lib", "etc", "tmp", "perf"):
        os.makedirs(os.path.join(root, name))
    launch = os.path.join(scratch, "programs", "launch")
    sources = os.path.join(build.PERF, "programs")
    subprocess.run(["make", "-s", "-C", sources, f"OUT={os.path.dirname(launch)}", launch], check=True)
    shutil.copy(launch, os.path.join(root, "bin", "launch"))
    copy_harness(root)
    copy_clients(root, binaries, scratch)
    search = os.environ.get("PATH", "") + SERVERS_PATH
    for tool in [*TOOLS, *build.INSTALLED.values()]:
        found = shutil.which(tool, path=search)
        if found:
            add_program(root, tool, found)
        elif tool in TOOLS:
            raise SystemExit(f"bundle: {tool} is not installed")
    copy_python(root)
    copy_settings(root)


def copy_harness(root):
    """All but what only a build needs; the scripts behind links that start them below the bundle's python."""
    for name in ("harness", "origin"):
        unread = shutil.ignore_patterns("__pycache__")
        shutil.copytree(os.path.join(build.PERF, name), os.path.join(root, "perf", name), ignore=unread)
    for name in ("budgets", "Package.swift", "README.md"):
        shutil.copy(os.path.join(build.PERF, name), os.path.join(root, "perf"))
    for name in SCRIPTS:
        shutil.copy(os.path.join(build.PERF, name), os.path.join(root, "perf", f"{name}.py"))
        os.symlink("../bin/launch", os.path.join(root, "perf", name))
    with open(os.path.join(root, "perf", os.path.basename(machine.BUNDLED)), "w", encoding="utf-8") as out:
        json.dump({"commit": machine.commit(), "versions": machine.versions()}, out)


def copy_clients(root, binaries, scratch):
    """Each where `perf/run` looks for it, as a link."""
    for client, path in binaries.paths.items():
        if client in build.INSTALLED or path.endswith(".so"):
            continue
        add_program(root, os.path.basename(path), path)
        place = os.path.join(root, "perf", ".build", os.path.relpath(path, scratch))
        os.makedirs(os.path.dirname(place), exist_ok=True)
        os.symlink(os.path.relpath(os.path.join(root, "bin", "launch"), os.path.dirname(place)), place)


def add_program(root, name, path):
    copy = os.path.join(root, "programs", name)
    shutil.copy(os.path.realpath(path), copy)
    add_libraries(root, path)
    subprocess.run(["strip", copy], check=False, stderr=subprocess.DEVNULL)
    link = os.path.join(root, "bin", name)
    if not os.path.lexists(link):
        os.symlink("launch", link)


def add_libraries(root, path):
    """The closure, as ldd has it; the loader by one name, whatever the processor calls it."""
    listed = subprocess.run(["ldd", path], capture_output=True, text=True, check=False).stdout
    for library in re.findall(r"(?:=> |^\s)(/\S+)", listed, re.MULTILINE):
        name = os.path.basename(library)
        copy_library(root, library, name)
        if name.startswith("ld-linux"):
            copy_library(root, library, "loader")
        if name == "libc.so.6":
            for opened in OPENED:
                beside = os.path.join(os.path.dirname(library), opened)
                if os.path.exists(beside):
                    copy_library(root, beside, opened)


def copy_library(root, path, name):
    copy = os.path.join(root, "lib", name)
    if not os.path.exists(copy):
        shutil.copy(os.path.realpath(path), copy)


def copy_python(root):
    """The one that runs this, with its library."""
    add_program(root, "python3", os.path.realpath(sys.executable))
    source = sysconfig.get_path("stdlib")
    target = os.path.join(root, "python", "lib", os.path.basename(source))

    def unread(_, names):
        return [name for name in names if name in UNREAD or name.startswith("config-") or name.endswith(".a")]

    shutil.copytree(source, target, ignore=unread)
    for module in glob.glob(os.path.join(sysconfig.get_path("platstdlib"), "lib-dynload", "*.so")):
        add_libraries(root, module)


def copy_settings(root):
    for name, text in ACCOUNTS.items():
        with open(os.path.join(root, "etc", name), "w", encoding="ascii") as out:
            out.write(text)
    # openssl asks for its settings even where a command line has all of them.
    with open(os.path.join(root, "etc", "openssl.cnf"), "w", encoding="ascii") as out:
        out.write("[req]\ndistinguished_name = name\nx509_extensions = authority\n[name]\n"
                  "[authority]\nbasicConstraints = critical,CA:true\nsubjectKeyIdentifier = hash\n")


def pack(folder, out):
    options = {"preset": 3} if out.endswith(".xz") else {"compresslevel": 6}
    with tarfile.open(out, f"w:{out.rsplit('.', 1)[1]}", **options) as archive:
        archive.add(os.path.join(folder, NAME), NAME, filter=owned_by_root)


def owned_by_root(entry):
    entry.uid = entry.gid = 0
    entry.uname = entry.gname = "root"
    return entry
