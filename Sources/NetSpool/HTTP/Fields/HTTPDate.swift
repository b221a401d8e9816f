/// Dates in header fields (RFC 9110 section 5.6.7): seconds since 1970, UTC.
///
/// All three forms are read; names of days, months and of the zone in any case, everything else to the
/// letter, since a date that is nearly right is more often wrong. The day's name is not held against
/// the date.
package enum HTTPDate {
  /// Nil if it is no date. `now` settles the century of the two-digit form: a date more than 50 years
  /// ahead lies in the past; without it 70...99 are in the 1900s.
  static func parse(_ text: Span<UInt8>, now: Int64? = nil) -> Int64? {
    switch text.count {
    case 29 where text[3] == UInt8(ascii: ","): fixdate(text)
    case 24 where text[3] == 0x20: asctime(text)
    default: rfc850(text, now: now)
    }
  }

  static func parse(_ text: String, now: Int64? = nil) -> Int64? { parse(text.utf8Span.span, now: now) }

  static func parse(_ text: ArraySlice<UInt8>, now: Int64? = nil) -> Int64? { parse(text.span, now: now) }

  /// `Sun, 06 Nov 1994 08:49:37 GMT`, the only form that is sent. For years 0 to 9999.
  package static func format(_ seconds: Int64) -> String {
    let date = CivilDate(secondsSince1970: seconds)
    let weekday = weekdays.dropFirst(date.weekday * 3).prefix(3)
    let month = months.dropFirst((date.month - 1) * 3).prefix(3)
    let clock = "\(padded(date.hour)):\(padded(date.minute)):\(padded(date.second))"
    return "\(weekday), \(padded(date.day)) \(month) \(padded(date.year, to: 4)) \(clock) GMT"
  }

  static func padded(_ number: Int, to width: Int = 2) -> String {
    let digits = String(number)
    return String(repeating: "0", count: max(0, width - digits.count)) + digits
  }

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

  private static func seconds(_ text: Span<UInt8>, year: Int, monthAt: Int, day: Int, timeAt: Int) -> Int64? {
    guard has(text, timeAt + 2, ":"), has(text, timeAt + 5, ":"), let month = month(text, monthAt),
      let hour = number(text, timeAt, 2), let minute = number(text, timeAt + 3, 2),
      let second = number(text, timeAt + 6, 2)
    else { return nil }
    return CivilDate(year: year, month: month, day: day, hour: hour, minute: minute, second: second)
      .secondsSince1970
  }

  private static func has(_ text: Span<UInt8>, _ index: Int, _ byte: Unicode.Scalar) -> Bool {
    text[index] == UInt8(ascii: byte)
  }

  private static func number(_ text: Span<UInt8>, _ start: Int, _ digits: Int) -> Int? {
    text.decimal(in: start..<(start + digits)).map { Int($0) }
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

  /// Finds which of the three-letter names stands at `start`.
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

/// A date and time of the proleptic Gregorian calendar, in UTC, without a time zone database.
struct CivilDate: Sendable, Hashable {
  var year: Int
  /// 1...12.
  var month: Int
  /// 1...31.
  var day: Int
  var hour = 0
  var minute = 0
  /// 0...60; 60 is a leap second, which counts as the first second of the next minute.
  var second = 0

  /// Seconds since 1970-01-01T00:00:00Z; nil if there is no such date.
  var secondsSince1970: Int64? {
    guard (1...12).contains(month), (1...Self.days(in: month, year)).contains(day),
      (0...23).contains(hour), (0...59).contains(minute), (0...60).contains(second)
    else { return nil }
    return Int64(Self.days(year, month, day)) * 86_400 + Int64(hour * 3600 + minute * 60 + second)
  }

}

extension CivilDate {
  /// The date at so many seconds since 1970.
  init(secondsSince1970 seconds: Int64) {
    let dayNumber = Int((seconds >= 0 ? seconds : seconds - 86_399) / 86_400)
    let rest = Int(seconds - Int64(dayNumber) * 86_400)
    (year, month, day) = Self.date(ofDay: dayNumber)
    hour = rest / 3600
    minute = rest / 60 % 60
    second = rest % 60
  }

  /// 0 is Sunday.
  var weekday: Int {
    let day = (Self.days(year, month, day) + 4) % 7
    return day < 0 ? day + 7 : day
  }

  static func days(in month: Int, _ year: Int) -> Int {
    switch month {
    case 2: year % 4 == 0 && (year % 100 != 0 || year % 400 == 0) ? 29 : 28
    case 4, 6, 9, 11: 30
    default: 31
    }
  }

  // The two conversions count in eras of 400 years that begin in March, so that the leap day comes last
  // (Howard Hinnant, "chrono-compatible low-level date algorithms").

  private static func days(_ year: Int, _ month: Int, _ day: Int) -> Int {
    let shifted = month <= 2 ? year - 1 : year
    let era = (shifted >= 0 ? shifted : shifted - 399) / 400
    let yearOfEra = shifted - era * 400
    let dayOfYear = (153 * ((month + 9) % 12) + 2) / 5 + day - 1
    return era * 146_097 + yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear - 719_468
  }

  private static func date(ofDay number: Int) -> (Int, Int, Int) {
    let shifted = number + 719_468
    let era = (shifted >= 0 ? shifted : shifted - 146_096) / 146_097
    let dayOfEra = shifted - era * 146_097
    let yearOfEra = (dayOfEra - dayOfEra / 1460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
    let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
    let shiftedMonth = (5 * dayOfYear + 2) / 153
    let month = shiftedMonth < 10 ? shiftedMonth + 3 : shiftedMonth - 9
    let year = yearOfEra + era * 400 + (month <= 2 ? 1 : 0)
    return (year, month, dayOfYear - (153 * shiftedMonth + 2) / 5 + 1)
  }
}

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
