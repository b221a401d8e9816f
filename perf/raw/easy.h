/// Easy handles with the options every transfer here shares.
#ifndef RAW_EASY_H
#define RAW_EASY_H

#include "options.h"
#include "wire.h"

/// A handle with everything set that stays the same between requests; only CURLOPT_URL is left.
/// No timeouts: the whole process is bounded by its watchdog, and this is the lower limit others are held to.
CURL *easy_make(wire *w, const options *o, curl_write_callback write, void *context);

#endif
