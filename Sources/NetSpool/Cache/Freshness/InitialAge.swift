/// How old an answer was when it came (RFC 9111 section 4.2.3).
struct InitialAge: Equatable {
  /// `corrected_initial_age`.
  private(set) var milliseconds: Int64
  /// Date lies far ahead of the local clock or Age is negative: somebody on the way has no idea of time,
  /// so nothing that is built on it can be called fresh.
  private(set) var isUnknown: Bool

  /// `date`: the answer's Date in seconds since 1970.
  init(_ fields: AnswerFields, date: Int64, requestedAt: Int64, receivedAt: Int64, rules: CacheRules) {
    let received = Self.seconds(receivedAt)
    let apparent = max(0, received.subtractingSaturated(date))
    let (age, isNegative) = Self.age(fields)
    let delay = max(0, receivedAt.subtractingSaturated(requestedAt))
    let corrected = age.milliseconds.addingSaturated(min(delay, DeltaSeconds.secondsMax.milliseconds))
    milliseconds = max(min(apparent, DeltaSeconds.secondsMax).milliseconds, corrected)
    isUnknown = isNegative || date.subtractingSaturated(received) > rules.clockSkewSecondsMax
  }

  /// The first member of Age in seconds; 0 if it is missing or no number: it is ignored then (RFC 9111
  /// section 5.1). Digits past any number are an age past any lifetime.
  private static func age(_ fields: AnswerFields) -> (seconds: Int64, isNegative: Bool) {
    guard let value = fields[.age] else { return (0, false) }
    let first = FieldNames.trimmed(value.prefix { $0 != UInt8(ascii: ",") })
    if first.first == UInt8(ascii: "-"), isNumber(first.dropFirst()) { return (0, true) }
    guard isNumber(first) else { return (0, false) }
    return (DeltaSeconds.parse(first) ?? DeltaSeconds.secondsMax, false)
  }

  private static func isNumber(_ digits: ArraySlice<UInt8>) -> Bool {
    !digits.isEmpty && digits.allSatisfy(\.isASCIIDigit)
  }

  /// Rounded down, also before 1970.
  static func seconds(_ milliseconds: Int64) -> Int64 {
    milliseconds >= 0 ? milliseconds / 1000 : (milliseconds + 1) / 1000 - 1
  }
}

extension Int64 {
  /// Of a number of seconds that is at most `DeltaSeconds.secondsMax`.
  var milliseconds: Int64 { self &* 1000 }
}
