/// Runs a whole program and says what it cost, as the clients say it of themselves:
///
///     measured --limit-seconds N --requests N -- PROGRAM ARGUMENTS...
///
/// Starting and ending are part of the cost. The highest resident memory is the kernel's `ru_maxrss`: inherited over
/// fork and exec, but this process is smaller than anything it measures. What the program prints on standard output is
/// thrown away; if it ends with another status than 0, so does this.
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <sysexits.h>
#include <time.h>
#include <unistd.h>
#include <fcntl.h>

static pid_t child;

static void did_expire(int number) {
  (void)number;
  if (child > 0) kill(child, SIGKILL);
}

static double now(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return (double)time.tv_sec + (double)time.tv_nsec / 1e9;
}

static double seconds_of(struct timeval time) { return (double)time.tv_sec + (double)time.tv_usec / 1e6; }

static _Noreturn void become(char **command) {
  int nothing = open("/dev/null", O_WRONLY);
  if (nothing >= 0) dup2(nothing, STDOUT_FILENO);
  execvp(command[0], command);
  perror(command[0]);
  _exit(EX_UNAVAILABLE);
}

static void report(double seconds, const struct rusage *used, double requests) {
  double user = seconds_of(used->ru_utime), system = seconds_of(used->ru_stime);
  printf("{\"client\":\"program\",\"mode\":\"program\",\"requests\":%.0f,\"seconds\":%.3f", requests, seconds);
  printf(",\"requests_per_second\":%.3f,\"cpu_seconds\":%.3f", requests / seconds, user + system);
  printf(",\"cpu_us_per_request\":%.3f,\"cpu_user_us_per_request\":%.3f", (user + system) * 1e6 / requests, user * 1e6 / requests);
  printf(",\"rss_max_bytes\":%ld,\"errors\":0}\n", used->ru_maxrss * 1024);
}

int main(int argc, char **argv) {
  long limit = 120, requests = 1;
  int i = 1;
  for (; i + 1 < argc && strcmp(argv[i], "--") != 0; i += 2) {
    if (!strcmp(argv[i], "--limit-seconds")) limit = strtol(argv[i + 1], NULL, 10);
    else if (!strcmp(argv[i], "--requests")) requests = strtol(argv[i + 1], NULL, 10);
    else break;
  }
  if (i + 1 >= argc || strcmp(argv[i], "--") != 0 || limit <= 0 || requests <= 0) {
    fputs("measured --limit-seconds N --requests N -- PROGRAM ARGUMENTS...\n", stderr);
    return EX_USAGE;
  }
  double begin = now();
  child = fork();
  if (child < 0) return EX_OSERR;
  if (child == 0) become(argv + i + 1);
  signal(SIGALRM, did_expire);
  alarm((unsigned)limit);
  int status = 0;
  struct rusage used;
  if (wait4(child, &status, 0, &used) != child) return EX_OSERR;
  if (!WIFEXITED(status)) {
    fprintf(stderr, "%s was killed, after %ld s at most\n", argv[i + 1], limit);
    return EX_SOFTWARE;
  }
  if (WEXITSTATUS(status) == 0) report(now() - begin, &used, (double)requests);
  return WEXITSTATUS(status);
}
