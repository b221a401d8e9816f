#if DEBUG
@testable import TestSupport

/// Records the lives of a process, then takes the power away at random moments of them and looks at what is left.
struct PowerLoss {
  struct Verdict {
    var traces = 0
    var states = 0
    var acknowledged = 0
    /// Of the first few states that broke a promise.
    var faults: [String] = []
    var broken = 0
  }

  let seed: UInt64
  let states: Int
  let base: String
  var lie: DiskLie?

  /// So many states of each trace, so that many traces are seen too.
  private static let statesPerTrace = 250
  private static let lives = 4
  private static let stepsPerLife = 120

  func run() throws -> Verdict {
    var verdict = Verdict()
    let folder = try TestFolder(in: base)
    let recorder = try Recorder(in: folder)
    while verdict.states < states {
      let trace = try record(UInt64(verdict.traces), recorder, folder)
      try replay(trace, atMost: min(Self.statesPerTrace, states - verdict.states), &verdict, folder)
      verdict.traces += 1
    }
    return verdict
  }

  // MARK: Recording

  private func record(_ number: UInt64, _ recorder: Recorder, _ folder: TestFolder) throws -> Trace {
    var random = SplitMix64(seed: seed, stream: number)
    let (root, file) = (folder["root"], folder["trace"])
    TestFiles.remove(root)
    try TestFiles.makeDirectory(root)
    try TestFiles.write([], to: file)
    for life in 1...Self.lives {
      let isLast = life == Self.lives
      let end = try recorder.live(
        seed: random.next(), steps: Self.stepsPerLife, answersMax: isLast ? .max : 1 + random.below(150),
        root: root, trace: file, said: folder["said"])
      if case .status(let status) = end, status != 0 {
        throw PartFailure("a recorded life ended with \(status)")
      }
    }
    return try Trace(CrashFiles.read(file))
  }

  // MARK: Replaying

  private func replay(
    _ trace: Trace, atMost count: Int, _ verdict: inout Verdict, _ folder: TestFolder
  ) throws {
    var random = SplitMix64(seed: seed ^ 0xD15C, stream: UInt64(verdict.traces))
    let cuts = (0..<count).map { _ in random.below(trace.events.count + 1) }.sorted()
    var disk = Disk()
    disk.lie = lie
    var truth = PowerTruth()
    var place = 0
    for (index, cut) in cuts.enumerated() {
      for event in trace.events[place..<cut] {
        if case .said(let text) = event { truth.hear(text) }
        disk.take(event)
      }
      place = cut
      if let failure = truth.failure { throw PartFailure(failure) }
      var dice = SplitMix64(seed: random.next(), stream: UInt64(index))
      let faults = try look(at: disk, truth, &dice, folder)
      verdict.states += 1
      guard !faults.isEmpty else { continue }
      verdict.broken += 1
      guard verdict.faults.count < 10 else { continue }
      verdict.faults.append("trace \(verdict.traces), state \(index), event \(cut): \(faults[0])")
    }
    verdict.acknowledged += truth.acknowledged
  }

  private func look(
    at disk: Disk, _ truth: PowerTruth, _ random: inout SplitMix64, _ folder: TestFolder
  ) throws -> [String] {
    let left = folder["left"]
    TestFiles.remove(left)
    try TestFiles.makeDirectory(left)
    try disk.crash(into: left, CrashChoice(using: &random), using: &random)
    var check = PowerCheck(truth)
    check.run("\(left)/\(Recorder.storeName)")
    return check.faults
  }
}
#endif
