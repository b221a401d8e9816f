/// Dates in header fields (RFC 9110 section 5.6.7): seconds since 1970, UTC.
///
/// All three forms are read; names of days, months and of the zone in any case, everything else to the
/// letter, since a date that is nearly right is more often wrong. The day's name is not held against
/// the date.
enum HTTPDate {
  /// Nil if it is no date. `now` settles the century of the two-digit form: a date more than 50 years
  /// ahead lies in the past; without it 70...99 are in the 1900s.
  static func parse(_ text: Span<UInt8>, now: Int64? = nil) -> Int64? {
    switch text.count {
    case 29 where text[3] == UInt8(ascii: ","): fixdate(text)
    case 24 where text[3] == 0x20: asctime(text)
    default: rfc850(text, now: now)
    }
  }

  static func parse(_ text: String, now: Int64? = nil) -> Int64? {
    parse(text.utf8Span.span, now: now)
  }

  static func parse(_ text: ArraySlice<UInt8>, now: Int64? = nil) -> Int64? {
    parse(text.span, now: now)
  }

  /// `Sun, 06 Nov 1994 08:49:37 GMT`, the only form that is sent. For years 0 to 9999.
  static func format(_ seconds: Int64) -> String {
    let date = CivilDate(secondsSince1970: seconds)
    let weekday = weekdays.dropFirst(date.weekday * 3).prefix(3)
    let month = months.dropFirst((date.month - 1) * 3).prefix(3)
    let clock = "\(padded(date.hour)):\(padded(date.minute)):\(padded(date.second))"
    return "\(weekday), \(padded(date.day)) \(month) \(padded(date.year, to: 4)) \(clock) GMT"
  }

  private static func padded(_ number: Int, to width: Int = 2) -> String {
    let digits = String(number)
    return String(repeating: "0", count: max(0, width - digits.count)) + digits
  }
}

extension HTTPDate {
  private static let weekdays = "SunMonTueWedThuFriSat"
  private static let months = "JanFebMarAprMayJunJulAugSepOctNovDec"

  /// `Sun, 06 Nov 1994 08:49:37 GMT`
  private static func fixdate(_ text: Span<UInt8>) -> Int64? {
    guard isWeekday(text), has(text, 4, " "), has(text, 7, " "), has(text, 11, " "), has(text, 16, " "),
      isGMT(text, 25), let day = number(text, 5, 2), let year = number(text, 12, 4)
    else { return nil }
    return seconds(text, year: year, monthAt: 8, day: day, timeAt: 17)
  }

  /// `Sun Nov  6 08:49:37 1994`
  private static func asctime(_ text: Span<UInt8>) -> Int64? {
    guard isWeekday(text), has(text, 7, " "), has(text, 10, " "), has(text, 19, " "),
      let day = has(text, 8, " ") ? number(text, 9, 1) : number(text, 8, 2),
      let year = number(text, 20, 4)
    else { return nil }
    return seconds(text, year: year, monthAt: 4, day: day, timeAt: 11)
  }

  /// `Sunday, 06-Nov-94 08:49:37 GMT`
  private static func rfc850(_ text: Span<UInt8>, now: Int64?) -> Int64? {
    guard let comma = text.firstIndex(of: UInt8(ascii: ",")), text.count == comma + 24,
      isLongWeekday(text, comma), has(text, comma + 1, " "), has(text, comma + 4, "-"),
      has(text, comma + 8, "-"), has(text, comma + 11, " "), isGMT(text, comma + 20),
      let day = number(text, comma + 2, 2), let short = number(text, comma + 9, 2)
    else { return nil }
    let year = fullYear(short, now: now)
    return seconds(text, year: year, monthAt: comma + 5, day: day, timeAt: comma + 12)
  }

  private static func fullYear(_ short: Int, now: Int64?) -> Int {
    guard let now else { return short < 70 ? 2000 + short : 1900 + short }
    let current = CivilDate(secondsSince1970: now).year
    let candidate = current - current % 100 + short
    return candidate > current + 50 ? candidate - 100 : candidate
  }

  private static func seconds(
    _ text: Span<UInt8>, year: Int, monthAt: Int, day: Int, timeAt: Int
  ) -> Int64? {
    guard has(text, timeAt + 2, ":"), has(text, timeAt + 5, ":"), let month = month(text, monthAt),
      let hour = number(text, timeAt, 2), let minute = number(text, timeAt + 3, 2),
      let second = number(text, timeAt + 6, 2)
    else { return nil }
    var date = CivilDate(year: year, month: month, day: day)
    date.hour = hour
    date.minute = minute
    date.second = second
    return date.secondsSince1970
  }

  private static func has(_ text: Span<UInt8>, _ index: Int, _ byte: Unicode.Scalar) -> Bool {
    text[index] == UInt8(ascii: byte)
  }

  private static func number(_ text: Span<UInt8>, _ start: Int, _ digits: Int) -> Int? {
    var value = 0
    for index in start..<(start + digits) {
      guard text[index].isASCIIDigit else { return nil }
      value = value * 10 + Int(text[index] - 0x30)
    }
    return value
  }

  private static func month(_ text: Span<UInt8>, _ start: Int) -> Int? {
    position(text, start, in: months).map { $0 + 1 }
  }

  private static func isWeekday(_ text: Span<UInt8>) -> Bool { position(text, 0, in: weekdays) != nil }

  private static func isGMT(_ text: Span<UInt8>, _ start: Int) -> Bool {
    text.equals(" gmt", in: start..<(start + 4))
  }

  private static func isLongWeekday(_ text: Span<UInt8>, _ end: Int) -> Bool {
    let range = 0..<end
    return text.equals("sunday", in: range) || text.equals("monday", in: range)
      || text.equals("tuesday", in: range) || text.equals("wednesday", in: range)
      || text.equals("thursday", in: range) || text.equals("friday", in: range)
      || text.equals("saturday", in: range)
  }

  /// Which of the three-letter names stands at `start`.
  private static func position(_ text: Span<UInt8>, _ start: Int, in names: String) -> Int? {
    let names = names.utf8Span.span
    var index = 0
    while index < names.count {
      if text.equals(names.extracting(index..<(index + 3)), at: start) { return index / 3 }
      index += 3
    }
    return nil
  }
}
