/// A number of seconds in a directive, or that it is missing or worthless.
enum DeltaSeconds: Equatable {
  case absent
  case seconds(Int64)
  /// Not a number, more than 63 bits, or said twice with two values.
  case invalid

  /// What larger numbers are cut to: 34,000 years. Sums of several cannot overflow.
  static let secondsMax: Int64 = 1 << 40

  /// 1*DIGIT (RFC 9111 section 1.2.2); nil for anything else and for what 63 bits cannot hold.
  ///
  /// That section lets a cache take a number it cannot hold for 2^31. Such a number is no lifetime that
  /// anybody meant, and an answer taken for stale is only asked for once more (section 4.2.1).
  static func parse(_ digits: some Collection<UInt8>) -> Int64? {
    guard !digits.isEmpty else { return nil }
    var value: Int64 = 0
    for digit in digits {
      guard digit.isASCIIDigit else { return nil }
      let (tenfold, overflows) = value.multipliedReportingOverflow(by: 10)
      let (sum, carries) = tenfold.addingReportingOverflow(Int64(digit - 0x30))
      guard !overflows, !carries else { return nil }
      value = sum
    }
    return min(value, secondsMax)
  }

  /// Notes a further mention: the same number again is harmless, another one makes both worthless (RFC
  /// 9111 section 4.2.1).
  mutating func note(_ directive: DirectiveReader.Directive) {
    let seconds = directive.isWellFormed ? directive.argument.flatMap { Self.parse($0) } : nil
    let new = seconds.map(Self.seconds) ?? .invalid
    self = self == .absent || self == new ? new : .invalid
  }

  var value: Int64? {
    if case .seconds(let value) = self { value } else { nil }
  }
}
