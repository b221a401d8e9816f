/// The command line of the raw client: the flags all clients share, and a few that are its own.
#ifndef RAW_OPTIONS_H
#define RAW_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>

enum { OUTPUTS_MAX = 8 };

typedef enum { MODE_GET, MODE_LATENCY, MODE_DOWNLOAD } mode;
typedef enum { SINK_WRITE, SINK_DIRECT } sink_kind;

typedef struct {
  mode mode;
  long requests;       ///< requests counted; default 20,000
  long warmup;         ///< requests before the first one counted; default 1,000
  long concurrency;    ///< requests on the wire at once; default 64
  long rate;           ///< requests per second, started on time whatever the others do; default 0: a closed loop
  const char *url_prefix;
  long distinct;       ///< different URLs, asked for in turn; default 10,000
  bool unique;         ///< adds `?<serial>` to each URL
  long body_bytes;     ///< length every body must have; default 8,192
  long receive_buffer; ///< CURLOPT_BUFFERSIZE in bytes; default 16 KiB, 512 KiB for a download
  bool headers;        ///< also take every header line, as a client that shows them must
  bool naive;          ///< close the poll handle at the end of each transfer
  bool h2;             ///< HTTP/2 over TLS, `streams` at once on one connection
  long streams;        ///< default 64
  const char *ca;      ///< certificates to trust
  const char *download;
  const char *outputs[OUTPUTS_MAX];
  int output_count;    ///< none: the bytes are only counted
  sink_kind sink;
  long write_bytes;    ///< bytes collected before each write; default 512 KiB
  long limit_seconds;  ///< SIGALRM ends the process after this; default 120
} options;

/// Reads the command line; ends the process with status 64 at an unknown flag.
options options_read(int argc, char **argv);

const char *options_mode_name(const options *o);

#endif
