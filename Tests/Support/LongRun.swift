import Glibc

/// The long versions of the tests that have one: `NETSPOOL_LONG=1 swift test`.
enum LongRun {
  static let isOn = unsafe getenv("NETSPOOL_LONG") != nil
}

/// This test runs under AddressSanitizer or ThreadSanitizer, whose own memory hides ours.
let isSanitized =
  unsafe dlsym(nil, "__asan_init") != nil || dlsym(nil, "__tsan_init") != nil
