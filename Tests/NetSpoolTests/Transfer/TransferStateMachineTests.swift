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

  enum Mistake: String, CaseIterable, Codable, Sendable {
    case headWhenIdle, bytesWhenIdle, doneWhenIdle, failWhenIdle, widenWhenIdle
    case beginTwice, bytesBeforeHead, widenBeforeHead, beginInBody, headTwice

    func make() {
      var machine = Machine()
      switch self {
      case .headWhenIdle: machine.handle(.head(.collect, bytesMax: 1))
      case .bytesWhenIdle: machine.handle(.bytes(1))
      case .doneWhenIdle: machine.handle(.done)
      case .failWhenIdle: machine.handle(.fail(NetworkError(.cancelled)))
      case .widenWhenIdle: machine.handle(.widen(bytesMax: .max))
      case .beginTwice: for _ in 0..<2 { machine.handle(.begin(bytesMax: 1)) }
      case .bytesBeforeHead, .widenBeforeHead:
        machine.handle(.begin(bytesMax: 1))
        machine.handle(self == .bytesBeforeHead ? .bytes(1) : .widen(bytesMax: .max))
      case .beginInBody, .headTwice:
        machine.handle(.begin(bytesMax: 1))
        machine.handle(.head(.collect, bytesMax: 1))
        machine.handle(self == .beginInBody ? .begin(bytesMax: 1) : .head(.collect, bytesMax: 1))
      }
    }
  }

  @Test(arguments: Mistake.allCases) func `anything else traps and says what came when`(mistake: Mistake)
    async
  {
    let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      [name = mistake.rawValue as String] in
      Mistake(rawValue: name)?.make()
    }
    let said = String(decoding: result?.standardErrorContent ?? [], as: UTF8.self)
    #expect(said.contains("NetSpool: a transfer cannot take"))
  }
}
