#include "options.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sysexits.h>

static _Noreturn void usage(const char *why, const char *flag) {
  fprintf(stderr, "raw: %s: %s\n", why, flag);
  exit(EX_USAGE);
}

static long number(const char *flag, const char *text) {
  char *end = NULL;
  long value = text ? strtol(text, &end, 10) : -1;
  if (!text || *end != '\0' || value < 0) usage("needs a number", flag);
  return value;
}

static bool take_number(options *o, const char *flag, const char *value) {
  struct { const char *flag; long *field; } table[] = {
    {"--requests", &o->requests},       {"--warmup", &o->warmup},
    {"--concurrency", &o->concurrency}, {"--distinct", &o->distinct},
    {"--body-bytes", &o->body_bytes},   {"--receive-buffer", &o->receive_buffer},
    {"--streams", &o->streams},         {"--write-bytes", &o->write_bytes},
    {"--limit-seconds", &o->limit_seconds}, {"--rate", &o->rate},
  };
  for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
    if (strcmp(flag, table[i].flag) != 0) continue;
    *table[i].field = number(flag, value);
    return true;
  }
  return false;
}

static bool take_text(options *o, const char *flag, const char *value) {
  if (!strcmp(flag, "--url-prefix")) o->url_prefix = value;
  else if (!strcmp(flag, "--ca")) o->ca = value;
  else if (!strcmp(flag, "--download")) o->mode = MODE_DOWNLOAD, o->download = value;
  else if (!strcmp(flag, "--sink")) o->sink = value && !strcmp(value, "direct") ? SINK_DIRECT : SINK_WRITE;
  else if (!strcmp(flag, "--output")) {
    if (o->output_count == OUTPUTS_MAX) usage("too many outputs", flag);
    o->outputs[o->output_count++] = value;
  } else return false;
  if (!value) usage("needs a value", flag);
  return true;
}

static bool take_switch(options *o, const char *flag) {
  if (!strcmp(flag, "--latency")) o->mode = MODE_LATENCY, o->concurrency = 1;
  else if (!strcmp(flag, "--unique")) o->unique = true;
  else if (!strcmp(flag, "--headers")) o->headers = true;
  else if (!strcmp(flag, "--naive")) o->naive = true;
  else if (!strcmp(flag, "--h2")) o->h2 = true;
  else return false;
  return true;
}

options options_read(int argc, char **argv) {
  options o = {
    .requests = 20000, .warmup = 1000, .concurrency = 64, .distinct = 10000, .body_bytes = 8192,
    .streams = 64, .write_bytes = 512 * 1024, .limit_seconds = 120,
  };
  for (int i = 1; i < argc; i++) {
    if (take_switch(&o, argv[i])) continue;
    const char *value = i + 1 < argc ? argv[i + 1] : NULL;
    if (!take_number(&o, argv[i], value) && !take_text(&o, argv[i], value)) usage("unknown flag", argv[i]);
    i++;
  }
  if (o.mode != MODE_DOWNLOAD && !o.url_prefix) usage("is missing", "--url-prefix");
  if (!o.concurrency || !o.distinct || !o.requests || !o.write_bytes) usage("must not be zero", "a number");
  if (o.write_bytes % 4096) usage("must be a multiple of 4096", "--write-bytes");
  if (!o.receive_buffer) o.receive_buffer = o.mode == MODE_DOWNLOAD ? 512 * 1024 : 16 * 1024;
  return o;
}

const char *options_mode_name(const options *o) {
  static const char *const names[] = {"get", "latency", "download"};
  return names[o->mode];
}
