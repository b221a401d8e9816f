"""The libraries' modules with all traits, as a user's compiler finds them: for what looks at them, and need not build them."""

import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
# Where the tests of traits are built as well: with the same words, those tests among them, nothing is left to do.
SCRATCH = ROOT / ".build-traits"


def built(words):
    """The compiler's switches for them, once they are built, and the system that they are for. `words` are for the build."""
    # A set's order is another in each process, and with it that of the compiler's words for traits: all would be built again.
    settings = {"NETSPOOL_TRAIT_TESTS": "1", "SWIFT_DETERMINISTIC_HASHING": "1"}
    build = subprocess.run(
        ["swift", "build", "--build-tests", "--scratch-path", str(SCRATCH), "--enable-all-traits", *words],
        env=os.environ | settings, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
        cwd=ROOT)
    if build.returncode != 0:
        sys.exit(build.stdout)
    debug = (SCRATCH / "debug").resolve()
    maps = [*ROOT.glob("CSupport/*/module.modulemap"), *debug.glob("*.build/module.modulemap")]
    vips = subprocess.run(["pkg-config", "--cflags-only-I", "vips"], stdout=subprocess.PIPE, text=True).stdout.split()
    of_clang = [f"-fmodule-map-file={path}" for path in maps] + vips
    return ["-I", str(debug / "Modules"), *(word for one in of_clang for word in ("-Xcc", one))], debug.parent.name
