/// What the raw client can be asked to do. Each prints its line of JSON and leaves the loop closed.
#ifndef RAW_MODES_H
#define RAW_MODES_H

#include "options.h"

#include <uv.h>

/// GETs in a closed loop; one in flight is the latency mode.
void run_gets(uv_loop_t *loop, const options *o);

/// One large body, counted or written to files.
void run_download(uv_loop_t *loop, const options *o);

#endif
