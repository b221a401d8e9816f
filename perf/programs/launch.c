/// Starts a program of a bundle with the bundle's own loader and libraries, whatever the machine has: `bin/NAME` is a link to
/// this, and starts `programs/NAME`. Linked statically, as it runs before there is a loader.
///
/// `perf/run` is one too, and starts it below the bundle's python. The wrapper that one would write as a script needs a shell,
/// and costs a whole program that is measured a millisecond more.
#define _GNU_SOURCE
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sysexits.h>
#include <unistd.h>

static char root[PATH_MAX]; ///< of the bundle: this program is bin/launch in it

static char *path(const char *folder, const char *slash, const char *name) {
  char *text;
  if (asprintf(&text, "%s/%s%s%s", root, folder, slash, name) < 0) abort();
  return text;
}

static char *below(const char *folder) { return path(folder, "", ""); }

static void find_root(void) {
  ssize_t length = readlink("/proc/self/exe", root, sizeof root - 1);
  if (length <= 0) {
    fputs("launch: /proc is not mounted\n", stderr);
    exit(EX_UNAVAILABLE);
  }
  root[length] = 0;
  for (int up = 0; up < 2; up++) *strrchr(root, '/') = 0;
}

/// What programs find things by, besides their libraries.
static void set_environment(void) {
  const char *others = getenv("PATH");
  char *search = below("bin");
  if (others && strncmp(others, search, strlen(search)) != 0) {
    if (asprintf(&search, "%s:%s", search, others) < 0) abort();
    setenv("PATH", search, 1);
  } else if (!others) setenv("PATH", search, 1);
  setenv("PYTHONHOME", below("python"), 1);
  setenv("PYTHONUTF8", "1", 1);
  setenv("OPENSSL_CONF", path("etc", "/", "openssl.cnf"), 1);
  setenv("LC_ALL", "C", 1);
  if (!getenv("HOME")) setenv("HOME", "/tmp", 1);
}

int main(int argc, char **argv) {
  const char *slash = argc > 0 ? strrchr(argv[0], '/') : NULL, *name = slash ? slash + 1 : argc > 0 ? argv[0] : "";
  // The scripts that a user calls are the bundle's python with a file.
  const char *scripts[] = {"run", "report", "claims", "compare"};
  const char *script = NULL;
  for (size_t i = 0; i < sizeof scripts / sizeof *scripts; i++)
    if (!strcmp(name, scripts[i])) script = scripts[i];
  find_root();
  set_environment();
  char **arguments = calloc((size_t)argc + 8, sizeof *arguments);
  if (!arguments) abort();
  int count = 0;
  arguments[count++] = path("lib", "/", "loader");
  arguments[count++] = "--inhibit-cache"; // the machine's own libraries are other ones
  arguments[count++] = "--library-path";
  arguments[count++] = below("lib");
  arguments[count++] = "--argv0";
  arguments[count++] = script ? path("bin", "/", "python3") : argv[0];
  arguments[count++] = path("programs", "/", script ? "python3" : name);
  if (script) {
    char *file;
    if (asprintf(&file, "%s/perf/%s.py", root, script) < 0) abort();
    arguments[count++] = file;
  }
  for (int i = 1; i < argc; i++) arguments[count++] = argv[i];
  execv(arguments[0], arguments);
  perror(arguments[0]);
  return EX_UNAVAILABLE;
}
