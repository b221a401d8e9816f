import Glibc
import Testing

/// The long versions of the tests that have one: `NETSPOOL_LONG=1 swift test`.
enum LongRun {
  static let isOn = unsafe getenv("NETSPOOL_LONG") != nil
}

/// This test runs under AddressSanitizer or ThreadSanitizer, whose own memory hides ours.
let isSanitized = unsafe dlsym(nil, "__asan_init") != nil || dlsym(nil, "__tsan_init") != nil

extension Duration {
  /// A limit of time as the test means it. A sanitizer is many times slower, and time is not what it looks for.
  var patient: Duration { isSanitized ? self * 20 : self }
}

/// Why a test may be left out under a sanitizer. CI takes these words, and no others, for a test that did not run.
enum NotSanitized: String {
  case timeIsNoMeasure = "time is no measure under a sanitizer"
  case memoryIsNoMeasure = "memory is no measure under a sanitizer"
  case valuesAlone = "values alone hide nothing from a sanitizer"
  case filesAreTooLong = "a limit for the length of files is one for a sanitizer's own"
}

extension Trait where Self == ConditionTrait {
  static var onlyInLongRuns: Self { .enabled(if: LongRun.isOn, "NETSPOOL_LONG is not set") }

  static func notSanitized(_ reason: NotSanitized) -> Self {
    .disabled(if: isSanitized, Comment(rawValue: reason.rawValue))
  }
}
