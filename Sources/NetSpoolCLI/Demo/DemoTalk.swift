/// What the demo says, on standard output, and how many of its checks passed.
final class DemoTalk {
  private(set) var checks = 0
  private(set) var failures = 0
  /// Why standard output took no more.
  private(set) var outputFailure: IOFailure?
  private let isQuiet: Bool
  private let isColoured: Bool

  init(isQuiet: Bool, isColoured: Bool) { (self.isQuiet, self.isColoured) = (isQuiet, isColoured) }

  func heading(_ text: String) { if !isQuiet { print("\n" + styled(text, 1)) } }
  func note(_ text: String) { if !isQuiet { print("  \(text)") } }

  /// A failed check is shown even when quiet.
  func check(_ isTrue: Bool, _ text: String) {
    checks += 1
    if !isTrue { failures += 1 }
    if !isTrue || !isQuiet { print("  \(isTrue ? styled("ok", 32) : styled("FAILED", 31))  \(text)") }
  }

  func print(_ line: String) {
    guard outputFailure == nil else { return }
    do throws(IOFailure) { try StandardOutput.write(Array("\(line)\n".utf8)) } catch { outputFailure = error }
  }

  /// - Parameter code: of ECMA-48: 1 is bold, from 30 on are colours.
  private func styled(_ text: String, _ code: Int) -> String {
    isColoured ? "\u{1B}[\(code)m\(text)\u{1B}[0m" : text
  }
}

/// The demo's numbers: what its fetches did and what they cost.
struct DemoNumbers {
  private var summaries: [Summary] = []
  private var wallSeconds = 0.0
  private var cpuSeconds = 0.0

  /// Runs a fetch and notes what it cost.
  mutating func measure(_ body: () -> (JobStatus, Summary)) -> (status: JobStatus, summary: Summary) {
    let (begin, cpu) = (ContinuousClock.now, ProcessUsage.seconds)
    let (status, summary) = body()
    wallSeconds += begin.duration(to: .now) / .seconds(1)
    cpuSeconds += ProcessUsage.seconds - cpu
    summaries.append(summary)
    return (status, summary)
  }

  /// - Parameter origin: all that was asked of it the fetches have asked, but for the form.
  func print(_ talk: DemoTalk, _ origin: DemoOrigin) {
    talk.heading("The fetches in numbers")
    let (requests, bytes) = (origin.requests, summaries.reduce(0) { $0 + $1.bytes })
    func sum(_ count: (Summary) -> Int) -> String { HumanText.count(summaries.reduce(0) { $0 + count($1) }) }
    let client = max(0, cpuSeconds - origin.seconds)
    let perRequest = HumanText.decimal(client / Double(max(1, requests)) * 1e6)
    let rows = [
      (sum(\.list.lines), "lines in the lists"), (sum(\.done), "files fetched"),
      (sum(\.hits), "of them from the cache"),
      (HumanText.count(requests), "requests at the origin"),
      (HumanText.bytes(bytes), "of bodies, \(HumanText.decimal(perSecond(Double(bytes) / 0x1p20))) MiB/s"),
      (HumanText.rate(perSecond(Double(requests))), "requests per second, waits of the script included"),
      (perRequest, "us of CPU per request, without the origin's"),
      (HumanText.bytes(ProcessUsage.residentBytesPeak), "resident at most, origin included"),
    ]
    for (value, what) in rows { talk.print("  \(HumanText.padded(value, to: 12))  \(what)") }
  }

  private func perSecond(_ amount: Double) -> Double { wallSeconds > 0 ? amount / wallSeconds : 0 }
}
