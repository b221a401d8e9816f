import Glibc

/// The long versions of the tests that have one: `NETSPOOL_LONG=1 swift test`.
enum LongRun {
  static let isOn = unsafe getenv("NETSPOOL_LONG") != nil
}
