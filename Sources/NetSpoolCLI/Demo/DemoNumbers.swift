/// The demo's numbers: what its fetches did and what they cost.
struct DemoNumbers {
  private var lines = 0
  private var fetched = 0
  private var hits = 0
  private var requests = 0
  private var bytes: Int64 = 0
  private var wallSeconds = 0.0
  private var cpuSeconds = 0.0
  private var originSeconds = 0.0
  private var residentBytesPeak: Int64 = 0

  /// Runs a fetch and notes what it cost.
  mutating func measure(_ origin: DemoOrigin, _ body: () -> JobStatus) -> JobStatus {
    let (begin, cpu, originCPU, asked) = (
      ContinuousClock.now, ProcessUsage.seconds, origin.seconds, origin.requests
    )
    let status = body()
    wallSeconds += begin.duration(to: .now) / .seconds(1)
    cpuSeconds += ProcessUsage.seconds - cpu
    originSeconds += origin.seconds - originCPU
    requests += origin.requests - asked
    return status
  }

  mutating func add(_ summary: Summary) {
    lines += summary.list.lines
    fetched += summary.done
    hits += summary.hits
    bytes += summary.bytes
  }

  /// Called before the demo itself takes memory to look at large files.
  mutating func notePeak() { residentBytesPeak = ProcessUsage.residentBytesPeak }

  func print(_ talk: DemoTalk) {
    talk.heading("The fetches in numbers")
    let client = max(0, cpuSeconds - originSeconds)
    talk.number(HumanText.count(lines), "lines in the lists")
    talk.number(HumanText.count(fetched), "files fetched")
    talk.number(HumanText.count(hits), "of them from the cache")
    talk.number(HumanText.count(requests), "requests at the origin")
    talk.number(
      HumanText.bytes(bytes), "of bodies, \(HumanText.decimal(perSecond(Double(bytes) / 0x1p20))) MiB/s")
    talk.number(
      HumanText.rate(perSecond(Double(requests))), "requests per second, waits of the script included")
    talk.number(
      HumanText.decimal(client / Double(max(1, requests)) * 1e6),
      "us of CPU per request, without the origin's")
    talk.number(HumanText.bytes(residentBytesPeak), "resident at most, origin included")
  }

  private func perSecond(_ amount: Double) -> Double { wallSeconds > 0 ? amount / wallSeconds : 0 }
}
