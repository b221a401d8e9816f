/// The Retry-After field (RFC 9110 section 10.2.3).
enum RetryAfter {
  /// Longer waits are cut to this; one hour. An origin must not be able to park a request for ever.
  static let secondsMax: Double = 3600

  /// Seconds to wait from `now` (seconds since 1970): 0 for a date that has passed, nil if the value is
  /// neither a number nor a date.
  static func parse(_ value: ArraySlice<UInt8>, now: Int64) -> Double? {
    guard !value.isEmpty else { return nil }
    if value.allSatisfy(\.isASCIIDigit) { return min(Double(delay(value)), secondsMax) }
    guard let date = HTTPDate.parse(value, now: now) else { return nil }
    let (wait, overflow) = date.subtractingReportingOverflow(now)
    return overflow ? nil : min(max(Double(wait), 0), secondsMax)
  }

  /// The number, or something past the limit; saturating, since any number of digits is allowed.
  private static func delay(_ digits: ArraySlice<UInt8>) -> Int {
    digits.reduce(0) { min($0 * 10 + Int($1 - 0x30), 1_000_000) }
  }
}
