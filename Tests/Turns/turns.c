#include "turns.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

// Swift Testing starts every test at once. On few cores those that wait for an answer would then wait for the turn of a
// thousand others, and what they measure is the machine. It looks at this before the first test, so main is too late.
__attribute__((constructor)) static void take_turns(void) {
  long cores = sysconf(_SC_NPROCESSORS_ONLN);
  char width[24];
  snprintf(width, sizeof width, "%ld", cores > 2 ? 3 * cores : 6);
  setenv("SWT_EXPERIMENTAL_MAXIMUM_PARALLELIZATION_WIDTH", width, 0);
}
