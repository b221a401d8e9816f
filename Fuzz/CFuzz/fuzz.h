#pragma once
#include <stddef.h>
#include <stdint.h>

/* libFuzzer's own entry (compiler-rt, FuzzerInterface.h has the other half): runs until told to stop. */
int LLVMFuzzerRunDriver(
    int *_Nonnull argc, char *_Nullable *_Nonnull *_Nonnull argv,
    int (*_Nonnull run)(const uint8_t *_Nullable bytes, size_t count));
