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

  init(year: Int, month: Int, day: Int) {
    self.year = year
    self.month = month
    self.day = day
  }

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
