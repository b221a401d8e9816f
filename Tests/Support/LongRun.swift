import Glibc

/// The long versions of the tests that have one: `NETSPOOL_LONG=1 swift test`.
enum LongRun {
  static let isOn = unsafe getenv("NETSPOOL_LONG") != nil
}

/// This test runs under AddressSanitizer or ThreadSanitizer, whose own memory hides ours.
let isSanitized =
  unsafe dlsym(nil, "__asan_init") != nil || dlsym(nil, "__tsan_init") != nil

extension Duration {
  /// A limit of time as the test means it. A sanitizer is many times slower, and time is not what it looks for.
  var patient: Duration { isSanitized ? self * 20 : self }
}
