import Testing

/// Holds a time against what is promised. In a test that `.measuresTime` a limit that was missed is measured once more.
func expect(
  _ time: Duration, within limit: Duration, _ comment: Comment? = nil,
  sourceLocation: SourceLocation = #_sourceLocation
) {
  if time < limit.patient { return }
  let text: Comment = "\(MeasuresTime.mark) \(time) instead of \(limit). \(comment?.rawValue ?? "")"
  Issue.record(text, sourceLocation: sourceLocation)
}

/// A test runs beside others, on few cores, and now and then what it measures is their work. So a time that was over
/// its limit is measured a second time, one such test after the other, and then it counts. Whatever else fails, fails
/// at once.
struct MeasuresTime: TestTrait, SuiteTrait, TestScoping {
  let isRecursive = true
  fileprivate static let mark = "took"
  private static let turns = Turns()

  @concurrent func provideScope(
    for test: Test, testCase: Test.Case?, performing body: @Sendable @concurrent () async throws -> Void
  ) async throws {
    let missed = Counter()
    try await withKnownIssue("over a limit of time: measured again", isIntermittent: true) {
      try await body()
    } matching: { issue in
      guard issue.comments.contains(where: { $0.rawValue.hasPrefix(Self.mark) }) else { return false }
      missed.add()
      return true
    }
    if missed.value == 0 { return }
    await Self.turns.begin()
    defer { Task { await Self.turns.end() } }
    try await body()
  }

  /// One after the other.
  private actor Turns {
    private var isTaken = false
    private var waiting: [CheckedContinuation<Void, Never>] = []

    func begin() async {
      if isTaken { await withCheckedContinuation { waiting.append($0) } }
      isTaken = true
    }

    func end() {
      isTaken = false
      if !waiting.isEmpty { waiting.removeFirst().resume() }
    }
  }
}

extension Trait where Self == MeasuresTime {
  /// It measures a time that is promised, with `expect(_:within:)`.
  static var measuresTime: MeasuresTime { MeasuresTime() }
}
