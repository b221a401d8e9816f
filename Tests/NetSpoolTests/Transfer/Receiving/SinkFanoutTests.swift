import Testing

@testable import NetSpool

struct SinkFanoutTests {
  /// Takes as much as it is told to, and keeps a journal.
  private final class TestSink: Sink {
    var room = Int.max
    var pendings = 0
    private(set) var bytes: [UInt8] = []
    private(set) var offers = 0
    private(set) var calls: [String] = []
    private(set) var ready: () -> Void = {}
    let report = NetworkResponse.StreamReport()

    func open(_ head: ResponseHead, bytesExpected: Int64?, ready: @escaping () -> Void) throws(SinkFailure) {
      self.ready = ready
      calls.append("open")
    }

    func write(_ bytes: RawSpan) throws(SinkFailure) -> Int {
      offers += 1
      let taken = min(room, bytes.byteCount)
      room -= taken
      for index in 0..<taken {
        self.bytes.append(unsafe bytes.unsafeLoad(fromByteOffset: index, as: UInt8.self))
      }
      return taken
    }

    func finish(_ failure: NetworkError?) throws(SinkFailure) -> SinkProgress {
      calls.append(failure.map { "abandon \($0.code)" } ?? "publish")
      pendings -= 1
      return pendings >= 0 ? .pending : .done
    }
  }

  private func write(_ bytes: [UInt8], to fanout: SinkFanout) { unsafe fanout.write(bytes.span.bytes) }

  /// Into these sinks, whose numbers begin with 1, and of which none may fail.
  private func open(_ sinks: TestSink...) -> SinkFanout {
    let fanout = SinkFanout()
    for (index, sink) in sinks.enumerated() {
      fanout.add(sink, id: UInt64(index + 1)) { _ in Issue.record("failed") }
    }
    fanout.open(SinkFixture.head, bytesExpected: nil)
    return fanout
  }

  @Test func `writes no empty body`() {
    let sink = TestSink()
    let fanout = open(sink)
    write([], to: fanout)
    #expect(sink.offers == 0)
    write([1], to: fanout)
    #expect(sink.offers == 1)
  }

  @Test func `a full backlog asks for a pause until there is room`() {
    let sink = TestSink()
    sink.room = 0
    let fanout = open(sink)
    var rooms = 0
    fanout.onRoom = { rooms += 1 }
    let piece = SinkFixture.pattern(64 << 10)
    while !fanout.isCongested { write(piece, to: fanout) }
    #expect(rooms == 0)
    sink.room = .max
    sink.ready()
    #expect(rooms == 1)
    #expect(!fanout.isCongested)
    #expect(sink.bytes.count == SinkFanout.backlogBytesMax)
  }

  @Test func `a sink whose abandonment takes its time is fed no more, and asked with its own reason`() {
    let (left, other) = (TestSink(), TestSink())
    left.pendings = 2
    let fanout = open(left, other)
    write(SinkFixture.pattern(100), to: fanout)
    left.room = 0
    fanout.abandon(1, NetworkError(.cancelled))
    for _ in 0..<20 { write(SinkFixture.pattern(64 << 10), to: fanout) }
    #expect(!fanout.isCongested && left.bytes.count == 100 && other.bytes.count == 100 + 20 << 16)
    left.ready()
    // The other does not wait for it
    var isOver = false
    fanout.finish(nil) { isOver = true }
    #expect(isOver)
    left.ready()
    #expect(left.calls == ["open", "abandon cancelled", "abandon cancelled", "abandon cancelled"])
    #expect(other.calls == ["open", "publish"])
  }

  @Test func `the delay of a sink is told from that of the others`() {
    let (stuck, other) = (TestSink(), TestSink())
    stuck.room = 0
    let fanout = open(stuck, other)
    fanout.beginWatch()
    #expect(fanout.delays(by: 1, now: 1_000).isEmpty)
    while !fanout.isCongested { write(SinkFixture.pattern(64 << 10), to: fanout) }
    #expect(fanout.delays(by: 2, now: 2_000).isEmpty)
    #expect(fanout.delays(by: 1, now: 2_000).map(\.time) == [1_000])
    #expect(fanout.standstill(now: 2_000) == 0 && fanout.standstill(now: 5_000) == 3_000)
  }

  @Test func `publishing that takes its time is waited for`() {
    let sink = TestSink()
    sink.pendings = 2
    let fanout = open(sink)
    var overs = 0
    fanout.finish(nil) { overs += 1 }
    sink.ready()
    #expect(overs == 0)
    sink.ready()
    #expect(overs == 1)
    sink.ready()
    #expect(overs == 1)
  }
}
