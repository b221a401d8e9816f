import Testing

@testable import NetSpool
@testable import TestSupport

@Suite struct OriginHealthTests {
  private var health = OriginHealth()

  private mutating func note(_ evidence: OriginEvidence..., from start: Int64 = 0) {
    for (index, one) in evidence.enumerated() { health.note(one, now: start + Int64(index)) }
  }

  /// What a row of attempts, a millisecond apart, makes of an origin nobody knew.
  @Test(
    arguments: [
      ([], OriginHealth.State.reachable, false), ([.answered], .reachable, false), ([.refused], .down, true),
      ([.unresolved], .down, true), ([.unreached], .down, true), ([.rejected], .down, true),
      // After an answer one is chance, three are none.
      ([.answered, .refused], .degraded, true),
      ([.answered, .refused, .refused], .degraded, true),
      ([.answered, .refused, .unreached, .refused], .down, true),
      ([.answered, .refused, .answered, .refused, .answered, .refused], .degraded, true),
      // Silence is one slow answer until it is three.
      ([.silent], .degraded, true),
      ([.silent, .lost], .degraded, true),
      ([.silent, .lost, .silent], .down, true),
      // It is back: wholly when connecting was all that failed, else when it answers.
      ([.refused, .connected], .reachable, false),
      ([.refused, .answered], .reachable, false),
      ([.silent, .silent, .silent, .connected], .degraded, false),
      ([.silent, .silent, .silent, .connected, .answered], .reachable, false),
      ([.silent, .silent, .silent, .answered], .reachable, false),
      // A connection is no answer, so it mends nothing that answers broke.
      ([.unavailable, .connected], .degraded, false),
      ([.unavailable], .degraded, false),
      ([.unavailable, .unavailable, .unavailable, .unavailable, .unavailable], .degraded, false),
      ([.refused, .unavailable], .degraded, false),
      ([.refused, .unavailable, .answered], .reachable, false),
    ] as [([OriginEvidence], OriginHealth.State, Bool)])
  mutating func `attempts make its health`(
    _ evidence: [OriginEvidence], _ state: OriginHealth.State, _ wantsProbe: Bool
  ) {
    for (index, one) in evidence.enumerated() { health.note(one, now: Int64(index) * 1_000) }
    #expect(health.state == state)
    #expect(health.wantsProbe == wantsProbe)
  }

  @Test mutating func `an answer long ago is none`() {
    note(.answered)
    note(.refused, from: OriginHealth.recent + 1)
    #expect(health.state == .down)
  }

  @Test mutating func `a failure among many is nothing`() {
    for index in 0..<16 as Range<Int64> { health.note(.answered, now: index) }
    note(.unavailable, .answered, from: 100)
    #expect(health.state == .reachable)
    note(.unavailable, .unavailable, .unavailable, from: 200)
    #expect(health.state == .degraded)
  }

  @Test mutating func `a degraded origin is well after enough answers or a quiet while`() {
    note(.unavailable)
    for index in 1..<7 as Range<Int64> { health.note(.answered, now: index) }
    #expect(health.state == .degraded)
    health.note(.answered, now: 7)
    #expect(health.state == .reachable)
    health = OriginHealth()
    note(.unavailable)
    note(.answered, from: OriginHealth.quiet)
    #expect(health.state == .reachable)
  }

  @Test(arguments: 0..<40 as Range<UInt64>)
  mutating func `it is never stuck and never down for nothing`(seed: UInt64) {
    var random = SplitMix64(seed: seed)
    var now: Int64 = 0
    var failuresInARow = 0
    for _ in 0..<2_000 {
      now += Int64(random.next() % 3_000_000)
      let evidence = OriginEvidence.allCases.randomElement(using: &random)!
      let before = health.state
      health.note(evidence, now: now)
      switch evidence {
      case .answered, .connected, .unavailable: failuresInARow = 0
      default: failuresInARow += 1
      }
      #expect(health.state != .down || failuresInARow > 0, "seed \(seed)")
      #expect(failuresInARow < OriginHealth.failuresToDown || health.state == .down, "seed \(seed)")
      // Nobody would find out otherwise.
      #expect(health.state != .down || health.wantsProbe, "seed \(seed)")
      if before == .down, evidence == .answered { #expect(health.state == .reachable, "seed \(seed)") }
    }
    for index in 0..<16 as Range<Int64> { health.note(.answered, now: now + index) }
    #expect(health.state == .reachable && !health.wantsProbe, "seed \(seed)")
  }

  @Test(
    arguments: [
      (NetworkError.Code.resolveFailed, "notFound", OriginEvidence.unresolved),
      (.connectFailed, "refused", .refused), (.connectFailed, "unreachable", .unreached),
      (.timedOut, "connect", .unreached), (.timedOut, "headers", .silent), (.timedOut, "total", .silent),
      (.timedOut, "queueDeadline", nil), (.timedOut, "reader", nil), (.tlsRejected, "expired", .rejected),
      (.connectionLost, nil, .lost), (.proxyFailed, "connect", .unreached), (.cancelled, nil, nil),
      (.engineClosed, nil, nil), (.sinkFailed, "stream 0", nil), (.uploadSourceFailed, nil, nil),
      (.offline, nil, nil), (.tooManyOpenFiles, nil, nil),
    ] as [(NetworkError.Code, String?, OriginEvidence?)])
  func `failures are evidence or not`(
    _ code: NetworkError.Code, _ reason: String?, _ evidence: OriginEvidence?
  ) {
    let cause = reason.flatMap(NetworkError.Cause.init)
    let failure = cause.map { NetworkError(code, cause: $0) } ?? NetworkError(code, reason: reason)
    #expect(OriginEvidence(status: nil, failure: failure) == evidence)
  }

  /// A look carries no certificate: an origin that asks for one must not stay down for ever.
  @Test(arguments: [
    (NetworkError.Cause.clientCertificate, OriginEvidence.connected), (.protocol, .connected),
    (.expired, .rejected), (.untrusted, .rejected),
  ])
  func `an origin that refuses the handshake of a look is there`(
    cause: NetworkError.Cause, evidence: OriginEvidence
  ) { #expect(OriginEvidence(lookFailure: NetworkError(.tlsRejected, cause: cause)) == evidence) }

  /// Others may ask it, and an attempt tells whether we may.
  @Test func `an origin that a rule forbids is there`() {
    #expect(OriginEvidence(lookFailure: NetworkError(.egressDenied)) == .connected)
  }

  @Test(arguments: [
    (200, OriginEvidence.answered), (404, .answered), (500, .answered), (501, .answered), (502, .unavailable),
    (503, .unavailable), (504, .unavailable), (505, .answered), (429, .answered),
  ])
  func `statuses are evidence`(_ status: Int, _ evidence: OriginEvidence) {
    #expect(OriginEvidence(status: status, failure: nil) == evidence)
    #expect(
      OriginEvidence(status: status, failure: NetworkError(.bodyTruncated, sendState: .answered)) == evidence)
  }

  @Test func `looks come less often with each that failed`() {
    var backoff = ProbeBackoff()
    var delays: [Double] = []
    for _ in 0..<8 {
      #expect(backoff.delay(random: 0) * 2 == backoff.delay(random: 1))
      delays.append(backoff.delay(random: 1))
      backoff.didFail()
    }
    #expect(delays == [1, 2, 4, 8, 16, 30, 30, 30])
    for _ in 0..<1_000 { backoff.didFail() }
    #expect(backoff.delay(random: 1) == 30)
    backoff.reset()
    #expect(backoff == ProbeBackoff())
  }

  @Test(
    arguments: [
      (LinkState.unrouted, true, OriginHealth.State?.some(.reachable), NetworkEngine.Reachability.noRoute),
      (.unrouted, true, .some(.down), .noRoute), (.unrouted, true, nil, .noRoute),
      (.unrouted, false, .some(.reachable), .reachable), (.unrouted, false, .some(.down), .originDown),
      (.assumed, true, .some(.degraded), .degraded), (.assumed, true, nil, .reachable),
    ] as [(LinkState, Bool, OriginHealth.State?, NetworkEngine.Reachability)])
  func `link and health together`(
    _ link: LinkState, _ needsRoute: Bool, _ health: OriginHealth.State?,
    _ expected: NetworkEngine.Reachability
  ) {
    let state = NetworkEngine.Reachability(link, needsRoute: needsRoute, health: health)
    #expect(state == expected)
    #expect(state.maySend == (expected == .reachable || expected == .degraded))
  }
}
