import Glibc
import NetSpoolTesting
import Testing

@testable import NetSpool
@testable import TestSupport

/// What is promised to an engine, whatever others of its queue are at. Here it is work of the loop, which other programs on
/// the machine do not stretch; by the clock on the wall it is measured in `Tests/Timing`.
let answerMax = Duration.milliseconds(50)

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
  expect(commands, within: answerMax, "a command of \(comment)", sourceLocation: sourceLocation)
  // Not the worst of them: libcurl 7.88 stays inside one call for as long as frames come.
  expect(
    sockets.sorted()[3], within: answerMax, "a socket of \(comment): \(sockets)",
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
    #expect(limit.isKept, "its place came later than \(time)", sourceLocation: sourceLocation)
  }
}
