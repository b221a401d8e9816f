import Testing

@testable import NetSpool

struct TransferStateMachineTests {
  typealias Machine = TransferStateMachine

  private static let broken = NetworkError(.connectionLost)

  @Test func `an exchange goes from idle over the head and the body to idle`() {
    var machine = Machine()
    #expect(machine.handle(.begin(bytesMax: 10)) == .proceed)
    #expect(machine.state == .awaitingHead)
    #expect(machine.handle(.head(.collect, bytesMax: 10)) == .proceed)
    #expect(machine.handle(.bytes(10)) == .use(.collect))
    #expect(machine.bodyBytes == 10)
    #expect(machine.handle(.done) == .proceed)
    #expect(machine.state == .idle)
    #expect(machine.failure == nil)
  }

  @Test func `a byte too many ends it, and nothing is used afterwards`() {
    var machine = Machine()
    machine.handle(.begin(bytesMax: .max))
    machine.handle(.head(.collect, bytesMax: 5))
    #expect(machine.handle(.bytes(5)) == .use(.collect))
    #expect(machine.handle(.bytes(1)) == .stop)
    #expect(machine.failure?.code == .bodyTooLarge)
    #expect(machine.handle(.bytes(1)) == .stop)
  }

  @Test func `the first failure is kept, and stops what comes later`() {
    var machine = Machine()
    machine.handle(.begin(bytesMax: .max))
    #expect(machine.handle(.fail(Self.broken)) == .stop)
    #expect(machine.handle(.fail(NetworkError(.timedOut))) == .stop)
    #expect(machine.handle(.head(.collect, bytesMax: .max)) == .stop)
    #expect(machine.handle(.bytes(1)) == .stop)
    #expect(machine.failure?.code == .connectionLost)
  }

  /// What a machine is told, of which it cannot take the last.
  private static let mistakes: [String: [Machine.Event]] = [
    "head when idle": [.head(.collect, bytesMax: 1)], "bytes when idle": [.bytes(1)],
    "end when idle": [.done], "failure when idle": [.fail(broken)],
    "more room when idle": [.widen(bytesMax: .max)],
    "second beginning": [.begin(bytesMax: 1), .begin(bytesMax: 1)],
    "bytes before the head": [.begin(bytesMax: 1), .bytes(1)],
    "more room before the head": [.begin(bytesMax: 1), .widen(bytesMax: .max)],
    "beginning in the body": [.begin(bytesMax: 1), .head(.collect, bytesMax: 1), .begin(bytesMax: 1)],
    "second head": [.begin(bytesMax: 1), .head(.collect, bytesMax: 1), .head(.collect, bytesMax: 1)],
  ]

  @Test(arguments: mistakes.keys.sorted())
  func `anything else traps and says what came when`(mistake: String) async {
    let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      [mistake = mistake as String] in
      var machine = TransferStateMachine()
      for event in TransferStateMachineTests.mistakes[mistake] ?? [] { machine.handle(event) }
    }
    let said = String(decoding: result?.standardErrorContent ?? [], as: UTF8.self)
    #expect(said.contains("NetSpool: a transfer cannot take"))
  }
}
