/// What Swift cannot call by itself: variadic functions, macros, and thread-local ids, as typed inline functions.
/// Each says why it exists and what would remove it.
#ifndef CNETSPOOL_SHIMS_H
#define CNETSPOOL_SHIMS_H

#include "sha256.h"
#include "system_file.h"

#endif
