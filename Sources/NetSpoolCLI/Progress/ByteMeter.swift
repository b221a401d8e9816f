/// A body on its way, as a user who waits for it sees it. Pure state: bytes and the time go in, rate and time left
/// come out.
struct ByteMeter: Sendable {
  private(set) var bytes: Int64 = 0
  /// Nil when the server does not tell.
  private(set) var total: Int64?
  private var window = RateWindow()

  mutating func update(bytes: Int64, total: Int64?, now: Int64) {
    // What is begun anew is no speed.
    if bytes < self.bytes { window = RateWindow() }
    (self.bytes, self.total) = (bytes, total)
    window.note(bytes, now: now)
  }

  var bytesPerSecond: Double { window.perSecond }
  var fraction: Double? { total.map { $0 == 0 ? 1 : Double(bytes) / Double($0) } }

  var secondsLeft: Double? {
    guard let total, bytesPerSecond > 0, total >= bytes else { return nil }
    return Double(total - bytes) / bytesPerSecond
  }
}

/// Draws a `ByteMeter`: `disk.img   45% [===>  ]  900.0 MiB/2.0 GiB  85.3 MiB/s  ETA  0:12`.
struct ByteLine {
  let meter: ByteMeter
  /// What the body is called; the last part of a long name is shown.
  var name = ""

  func bar(columns: Int) -> String {
    // Names of several lines stand in a column of their own.
    let room = min(24, columns / 4 - 1)
    let name = HumanText.harmless(name)
    let shown = name.count > room ? "…" + name.suffix(max(0, room - 1)) : name
    let title =
      name.isEmpty || room < 8 ? "" : shown + String(repeating: " ", count: room - shown.count) + "  "
    let isNarrow = columns < Self.columnsMin
    return BarLine(parts: isNarrow ? fewParts : parts, fraction: meter.fraction, title: title).text(
      columns: columns)
  }

  /// With fewer there is room for a percentage only, and none for the length of the whole.
  private static let columnsMin = 60

  private var fewParts: [BarLine.Part] {
    let percent = meter.fraction.map { "\(HumanText.padded(Int($0 * 100), to: 3, with: " "))%" }
    let done = percent ?? HumanText.padded(HumanText.bytes(meter.bytes), to: 9)
    return [BarLine.Part(rank: 0, text: done)] + parts.dropFirst()
  }

  private var parts: [BarLine.Part] {
    let done = HumanText.bytes(meter.bytes)
    let total = meter.total.map { "/\(HumanText.bytes($0))" } ?? ""
    var parts = [
      BarLine.Part(rank: 0, text: HumanText.padded(done + total, to: total.isEmpty ? 9 : 19)),
      BarLine.Part(
        rank: 1, text: HumanText.padded("\(HumanText.bytes(Int64(meter.bytesPerSecond)))/s", to: 11)),
    ]
    if let seconds = meter.secondsLeft {
      parts.append(BarLine.Part(rank: 2, text: "ETA \(HumanText.padded(HumanText.clock(seconds), to: 5))"))
    }
    return parts
  }
}
