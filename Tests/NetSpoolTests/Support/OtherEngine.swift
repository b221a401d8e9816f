import Glibc
import NetSpoolTesting
import Testing

@testable import NetSpool
@testable import TestSupport

/// What is promised to an engine, whatever others of its queue are at. By the clock on the wall it is measured in
/// `Tests/Timing`.
let answerMax = Duration.milliseconds(50)

/// So much work of its loop an engine may have to wait for: what is promised, and as much again, for caches and cores that other
/// programs use as well stretch it. What is done at once that should be done in turns takes many times as long.
let workMax = answerMax * 2

/// GETs of an engine of its own to an origin of its own are answered, each gets its place in time, and neither their
/// commands nor their sockets wait for more work of the loop than is promised.
func expectAnswer(
  on queue: NetworkQueue, within limit: Duration = answerMax, _ comment: Comment = "another engine",
  sourceLocation: SourceLocation = #_sourceLocation
) async throws {
  let other = try ScriptedOrigin()
  other.on("/", .text("ok"))
  let engine = try NetworkEngine(to: other, on: queue) { $0.delivery = .loopThread }
  let pipe = try makePipe()
  defer {
    close(pipe.read)
    close(pipe.write)
  }
  let clock = await LoopClock(queue)
  var sockets: [Duration] = []
  let commands = try await clock.longestWait {
    for _ in 0..<5 {
      try await engine.expectStart("/", within: limit, sourceLocation: sourceLocation)
      sockets.append(await clock.wait(forSocket: pipe.write))
    }
  }
  expect(commands, within: workMax, "a command of \(comment)", sourceLocation: sourceLocation)
  // Not the worst of them: libcurl 7.88 stays inside one call for as long as frames come.
  expect(
    sockets.sorted()[3], within: workMax, "a socket of \(comment): \(sockets)",
    sourceLocation: sourceLocation)
}

extension NetworkEngine {
  /// A GET is answered, and has had its place within so much of the loop's time. The engine's closures run on the loop thread.
  func expectStart(
    _ path: String, within time: Duration = answerMax, sourceLocation: SourceLocation = #_sourceLocation
  ) async throws {
    let (limit, operation) = (LoopLimit(time), operation(path: path))
    operation.onStateChange { if $0 == .executing { limit.keep() } }
    enqueue(operation)
    limit.begin(for: operation)
    let answer = await operation.end()
    #expect(answer.response?.status == 200, "\(answer)", sourceLocation: sourceLocation)
    if limit.isKept || Measured.canBeRepeated() { return }
    Issue.record("its place came later than \(time)", sourceLocation: sourceLocation)
  }
}
