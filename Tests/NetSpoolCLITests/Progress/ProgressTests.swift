import Testing

@testable import NetSpoolCLI

@Suite struct ProgressTests {
  private let second: Int64 = 1_000_000_000

  private func meter(_ counts: ProgressMeter.Counts, after seconds: Int64 = 10) -> ProgressMeter {
    var meter = ProgressMeter()
    meter.update(ProgressMeter.Counts(), now: 0)
    meter.update(counts, now: seconds * second)
    return meter
  }

  @Test func `the total is exact once the list has ended`() {
    #expect(meter(.init(finished: 30, inFlight: 20, listEnded: true)).total == .exact(50))
    #expect(meter(.init(finished: 30, inFlight: 20, listFraction: 0.5)).total == .about(100))
    #expect(meter(.init(finished: 30, inFlight: 20)).total == .unknown)
    #expect(meter(.init(listEnded: true)).fraction == 1)
  }

  @Test func `rate and time left follow the last ten seconds`() {
    var meter = ProgressMeter()
    for step in 0...60 {
      let finished = step <= 40 ? step * 100 : 4_000 + (step - 40) * 10
      meter.update(
        .init(finished: finished, inFlight: 5_000 - finished, listEnded: true), now: Int64(step) * second)
    }
    #expect(meter.perSecond == 10)
    #expect(meter.secondsLeft == 80)
  }

  @Test func `ten updates a second do not shorten the window`() {
    var meter = ProgressMeter()
    for step in 0...300 { meter.update(.init(finished: step), now: Int64(step) * second / 10) }
    #expect(abs(meter.perSecond - 10) < 0.5)
  }

  @Test func `the bar shows everything in eighty columns`() {
    let counts = ProgressMeter.Counts(
      finished: 12_150, failed: 3, hits: 120, bytes: 6_815_744, inFlight: 14_850, listEnded: true)
    let text = ProgressLine(meter: meter(counts)).bar(columns: 80)
    #expect(text == " 45% [===>   ]  12,150/27,000  1,215/s   6.5 MiB  120 hits  3 errors  ETA  0:12")
  }

  @Test(arguments: 1...200)
  func `the bar fits every terminal`(columns: Int) {
    let counts = ProgressMeter.Counts(
      finished: 1_234_567, failed: 98_765, hits: 1_000_000, bytes: 1 << 45, inFlight: 2_000, listFraction: 0.3
    )
    let text = ProgressLine(meter: meter(counts)).bar(columns: columns)
    #expect(text.utf8.count <= max(1, columns - 1))
    #expect(columns < 24 || text.contains("1,234,567/~4,121,890"))
  }

  @Test func `narrow terminals lose the least important first`() {
    let counts = ProgressMeter.Counts(
      finished: 50, failed: 3, hits: 12, bytes: 2_048, inFlight: 50, listEnded: true)
    let line = ProgressLine(meter: meter(counts))
    let order = ["[", "hits", "KiB", "errors", "ETA", "/s"]
    let vanishing = order.map { word in (1...100).first { line.bar(columns: $0).contains(word) } ?? 0 }
    #expect(vanishing == vanishing.sorted(by: >), "\(vanishing)")
  }

  @Test func `colours only errors and only when asked`() {
    let counts = ProgressMeter.Counts(finished: 50, failed: 3, inFlight: 50, listEnded: true)
    #expect(!ProgressLine(meter: meter(counts)).bar(columns: 80).contains("\u{1B}"))
    let coloured = ProgressLine(meter: meter(counts), isColoured: true).bar(columns: 80)
    #expect(coloured.contains("\u{1B}[31m3 errors\u{1B}[0m"))
  }

  @Test(
    arguments: [
      (.auto, true, false, .bar), (.auto, false, false, .lines), (.always, false, false, .bar),
      (.never, true, false, .silent), (.lines, true, false, .lines), (.always, true, true, .silent),
    ] as [(ProgressMode, Bool, Bool, ProgressMode.Style)])
  func `the mode decides the style`(
    mode: ProgressMode, isTerminal: Bool, isQuiet: Bool, style: ProgressMode.Style
  ) { #expect(mode.style(isTerminal: isTerminal, isQuiet: isQuiet) == style) }

  @Test(arguments: [(ProgressMode.Style.bar, 100), (.lines, 1), (.silent, 0)])
  func `draws no more than its style allows`(style: ProgressMode.Style, draws: Int) {
    var written: [String] = []
    let console = Console(isTerminal: true) { written.append($0) }
    let painter = ProgressPainter(style: style, console: console, now: 0)
    for millisecond in 0...10_000 { painter.tick(now: Int64(millisecond) * 1_000_000) { .init() } }
    #expect(written.count == draws)
  }

  @Test(arguments: [40, 80, 200])
  func `the largest bodies on their way have lines of their own under the total`(columns: Int) {
    var screen = ""
    let size = { TerminalSize(columns: columns) }
    let console = Console(isTerminal: true, size: size) { screen = $0 }
    let board = TransferBoard()
    let painter = ProgressPainter(style: .bar, console: console, board: board, now: 0)
    let bodies = (1...7).map { board.begin("file\($0)", bytes: 0, total: Int64($0 * 100) << 20) }
    _ = board.begin("small", bytes: 0, total: 1_000)
    for tenth in 1...10 {
      for id in bodies { board.add(1 << 20, to: id) }
      painter.tick(now: Int64(tenth) * 100_000_000) { .init(inFlight: 8, listEnded: true) }
    }
    let lines = screen.split(separator: "\n").map {
      $0.split(separator: "\u{1B}").first { $0.contains("/") || $0.contains("%") } ?? ""
    }
    #expect(lines.count == 6 && lines[0].contains("0/8"), "\(lines)")
    for (line, number) in zip(lines.dropFirst(), [7, 6, 5, 4, 3]) {
      #expect(line.contains("file\(number)") && line.contains("MiB/s") && line.contains("ETA"), "\(line)")
    }
    #expect(lines.allSatisfy { $0.count < columns + 4 })
    // What has ended has no line any more, and its bytes are the job's.
    for id in bodies.dropLast() { board.end(id) }
    painter.tick(now: 1_200_000_000) { .init(finished: 6, bytes: 60 << 20, inFlight: 2, listEnded: true) }
    #expect(screen.split(separator: "\n").count == 2 && screen.contains("file7"))
    #expect(columns == 40 || screen.contains("70.0 MiB"), "\(screen)")
    painter.finish(now: 1_300_000_000, .init(finished: 8, bytes: 70 << 20, listEnded: true))
    #expect(!screen.contains("file7") && screen.hasSuffix("\n"))
  }

  /// A line on its own, and back to its beginning.
  private func bar(_ text: String) -> String { "\u{1B}[?7l\(text)\u{1B}[?7h\r" }

  @Test func `the whole takes no less than its slowest body`() {
    let counts = ProgressMeter.Counts(finished: 50, inFlight: 50, listEnded: true)
    #expect(ProgressLine(meter: meter(counts)).plain.hasSuffix("ETA 0:10"))
    #expect(ProgressLine(meter: meter(counts), secondsLeftMin: 75).plain.hasSuffix("ETA 1:15"))
  }

  @Test func `messages go above the bar`() {
    var written = ""
    let console = Console(isTerminal: true) { written += $0 }
    console.show(bars: ["50%"])
    console.message("note")
    console.show(bars: ["60%"])
    console.endBar()
    #expect(written == "\r\(bar("50%"))\r \u{1B}[J\rnote\n\r\(bar("60%"))\r \u{1B}[J\r60%\n")
  }

  @Test func `a log line has no padding and no controls`() {
    let counts = ProgressMeter.Counts(finished: 50, failed: 1, bytes: 2_048, inFlight: 50, listEnded: true)
    #expect(ProgressLine(meter: meter(counts)).plain == "50/100, 5.0/s, 2.0 KiB, 1 error, ETA 0:10")
  }
}

/// One body on its way.
@Suite struct ByteLineTests {
  private static let second: Int64 = 1_000_000_000

  private func meter(_ bytes: Int64, of total: Int64?) -> ByteMeter {
    var meter = ByteMeter()
    meter.update(bytes: 0, total: total, now: 0)
    meter.update(bytes: bytes, total: total, now: Self.second)
    return meter
  }

  @Test func `bytes, rate and time left are shown`() {
    let line = ByteLine(meter: meter(50 << 20, of: 200 << 20), name: "disk.img").bar(columns: 110)
    for text in ["disk.img", " 25% [", "50.0 MiB/200.0 MiB", "50.0 MiB/s", "ETA  0:03"] {
      #expect(line.contains(text), "\(line)")
    }
    let endless = ByteLine(meter: meter(50 << 20, of: nil)).bar(columns: 110)
    #expect(endless.contains("50.0 MiB   50.0 MiB/s") && !endless.contains("ETA"), "\(endless)")
  }

  @Test(arguments: 8...220) func `no line is wider than the terminal`(columns: Int) {
    for name in ["", "a", String(repeating: "long", count: 60)] {
      let text = ByteLine(meter: meter(50 << 20, of: 200 << 20), name: name).bar(columns: columns)
      #expect(text.count < columns)
    }
  }

  @Test func `forty columns have a percentage, a rate and the time left`() {
    let text = ByteLine(meter: meter(50 << 20, of: 200 << 20), name: "disk.img").bar(columns: 40)
    #expect(text == "disk.img    25%   50.0 MiB/s  ETA  0:03")
  }

  @Test func `what was there before is no speed`() {
    var meter = ByteMeter()
    meter.update(bytes: 100 << 20, total: 200 << 20, now: 0)
    meter.update(bytes: 101 << 20, total: 200 << 20, now: Self.second)
    #expect(meter.bytesPerSecond == 0x1p20)
  }

  @Test
  func `the cursor waits at the first of several lines, so that no width matters when they are taken away`() {
    var written = ""
    let console = Console(isTerminal: true) { written += $0 }
    console.show(bars: ["12345678", "12345678", "1"])
    #expect(written.hasSuffix("12345678\n12345678\n1\u{1B}[?7h\r\u{1B}[2A"))
    written = ""
    console.message("x")
    #expect(written == "\r \u{1B}[J\rx\n")
  }

  @Test func `a window with few rows shows as many lines as it has room for`() {
    var written = ""
    let console = Console(isTerminal: true, size: { TerminalSize(rows: 3) }) { written += $0 }
    console.show(bars: ["total", "a", "b", "c"])
    #expect(written.contains("total\na\u{1B}") && !written.contains("b"))
  }
}
