import NetSpoolTesting

/// What the demo's origin offers and how each thumbnail behaves; everything follows from its number.
struct DemoPlan: Sendable {
  enum Fate: Equatable, Sendable {
    case plain
    case slow(milliseconds: Int)
    case missing
    /// The first answer is cut off in the body by a reset.
    case cutOff
    /// The first answer is 503 with `Retry-After: 1`. Lives on an origin of its own, which then has to wait.
    case busy
  }

  /// Numbers from 0 are in the first list.
  let count: Int
  /// So many more are in the second list.
  var moreCount: Int { max(20, count / 3) }

  static let path = "/thumbs/"
  /// Each costs a second of waiting at its origin, so there are few.
  private static let busyMax = 3

  func fate(of number: Int) -> Fate {
    if number >= count { return .plain }
    if number % 500 == 7 { return .missing }
    if number % 60 == 11 { return .cutOff }
    if number % 100 == 5, number / 100 < Self.busyMax { return .busy }
    return number % 40 == 3 ? .slow(milliseconds: 10 + number % 7 * 10) : .plain
  }

  var missingCount: Int { (0..<count).count { fate(of: $0) == .missing } }

  /// A second name for one thumbnail in 25: equal requests under way share one exchange.
  func hasCopy(_ number: Int) -> Bool { number < count && number % 25 == 1 }

  /// Every tenth line comes twice; the second one is dropped.
  func isRepeated(_ number: Int) -> Bool { number % 10 == 0 }
  static func name(_ number: Int) -> String { "\(HumanText.padded(number, to: 6, with: "0")).png" }
  static func copyName(_ number: Int) -> String { "copies/\(name(number))" }

  /// The first list, as `fetch` reads it.
  func list(_ origin: ScriptedOrigin) -> String {
    var lines = "# \(HumanText.count(count)) thumbnails\n"
    for number in 0..<count {
      let line = line(number, Self.name(number), origin)
      lines += line
      if hasCopy(number) { lines += self.line(number, Self.copyName(number), origin) }
      if isRepeated(number) { lines += line }
    }
    return lines
  }

  func moreList(_ origin: ScriptedOrigin) -> String {
    (count..<count + moreCount).map { line($0, Self.name($0), origin) }.joined()
  }

  private func line(_ number: Int, _ name: String, _ origin: ScriptedOrigin) -> String {
    let host = fate(of: number) == .busy ? "localhost" : "127.0.0.1"
    return "\(origin.url(Self.path + "\(number)", host: host))\t\(name)\n"
  }

  /// Every file that must be there after the first list, with the number of its thumbnail.
  var files: [(name: String, number: Int)] {
    (0..<count).filter { fate(of: $0) != .missing }.flatMap { number in
      [(Self.name(number), number)] + (hasCopy(number) ? [(Self.copyName(number), number)] : [])
    }
  }

  var moreFiles: [(name: String, number: Int)] { (count..<count + moreCount).map { (Self.name($0), $0) } }
}
