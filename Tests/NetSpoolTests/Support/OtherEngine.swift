import NetSpoolTesting
import Testing

@testable import NetSpool
@testable import TestSupport

/// What is promised to an engine, whatever others of its queue are at: from `enqueue` to the end of a small GET.
let answerMax = Duration.milliseconds(50)

/// GETs of an engine of its own to an origin of its own, one after the other, are answered as soon as is promised. The
/// loop measures it, so that tests which wait for a thread of the pool do not count.
func expectAnswer(
  on queue: NetworkQueue, within limit: Duration = answerMax, _ comment: Comment = "another engine",
  sourceLocation: SourceLocation = #_sourceLocation
) async throws {
  let other = try ScriptedOrigin()
  other.on("/", .text("ok"))
  let engine = try NetworkEngine(to: other, on: queue) { $0.delivery = .loopThread }
  let times = try await engine.timesOfAnswers("/", count: 5, sourceLocation: sourceLocation)
  // Not the worst of them, which belongs to the machine.
  expect(times[2], within: limit, "\(comment): \(times)", sourceLocation: sourceLocation)
}

extension NetworkEngine {
  /// How long so many GETs take, one after the other; the shortest first.
  func timesOfAnswers(
    _ path: String, count: Int, sourceLocation: SourceLocation = #_sourceLocation
  ) async throws -> [Duration] {
    var times: [Duration] = []
    for _ in 0..<count {
      let answer = await end(of: operation(path: path))
      #expect(answer.response?.status == 200, "\(answer)", sourceLocation: sourceLocation)
      times.append(
        try #require(answer.response?.metrics.endToEnd, sourceLocation: sourceLocation))
    }
    return times.sorted()
  }
}
