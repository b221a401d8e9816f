import Testing

@testable import netspool_crash

/// The judge must be able to say no.
struct KillCheckTests {
  private typealias Arrival = JournalingOrigin.Arrival

  /// Two requests of one lane that were accepted, sent, answered and told.
  private static let said = """
    ACK 1 k1 d1 ordered/s1/1/1
    ACK 2 k2 d2 ordered/s1/1/2
    TERM 1 200 first
    TERM 2 200 first

    """
  private static let came = [
    Arrival(key: "k1", digest: "d1", path: "ordered/s1/1/1"),
    Arrival(key: "k1", digest: "d1", path: "ordered/s1/1/1"),
    Arrival(key: "k2", digest: "d2", path: "ordered/s1/1/2"),
  ]

  private func judge(
    _ said: [String], _ came: [Arrival] = Self.came, effects: [String: String] = ["k1": "d1", "k2": "d2"]
  ) -> KillCheck {
    var truth = KillTruth()
    for text in said { truth.hear(text) }
    var check = KillCheck()
    check.look(truth, came) { effects[$0] }
    return check
  }

  @Test func `what went well is counted`() {
    let check = judge([Self.said])
    #expect(check.counts.broken == 0, "\(check.faults)")
    #expect(check.counts.accepted == 2)
    #expect(check.counts.arrivals == 3)
    #expect(check.counts.duplicates == 1)
  }

  @Test func `what is missing is found`() {
    let lost = judge([Self.said.replacing("TERM 2 200 first", with: "TERM 1 200 first")])
    #expect(lost.counts.lost == 1)
    #expect(lost.counts.double == 1)
    #expect(judge([Self.said], effects: ["k1": "d1"]).counts.effects == 1)
    #expect(judge([Self.said.replacing("TERM 2 200", with: "TERM 2 500")]).counts.lost == 1)
    #expect(judge([Self.said.replacing("TERM 2 200 first", with: "LEFT 2 frozenRejected")]).counts.lost == 1)
  }

  @Test func `what is told again says so`() {
    #expect(judge([Self.said, "TERM 1 200 again\n"]).counts.broken == 0)
    #expect(judge([Self.said, "TERM 1 200 first\n"]).counts.double == 1)
    #expect(judge([Self.said, "DEAD 1 cancelled again\n"]).counts.double == 1)
    let dead = Self.said.replacing("TERM 2 200", with: "DEAD 2 frozenPoisoned")
    #expect(judge([dead, "DEAD 2 frozenPoisoned again\n"]).counts.double == 0)
    #expect(judge([dead, "DEAD 2 frozenPoisoned first\n"]).counts.double == 1)
    #expect(judge([dead + "DEAD 2 frozenPoisoned again\n"]).counts.double == 1)
    #expect(judge([dead, "TERM 2 200 again\n"]).counts.double == 1)
    #expect(judge([Self.said, "ACK 0\n"]).counts.double == 1)
  }

  @Test func `another key and other bytes are found`() {
    let path = "ordered/s1/1/2"
    #expect(
      judge([Self.said], Self.came + [Arrival(key: "k9", digest: "d2", path: path)]).counts.secondKeys == 1)
    // Once against the earlier arrival, once against what was accepted
    #expect(
      judge([Self.said], Self.came + [Arrival(key: "k2", digest: "d9", path: path)]).counts.wrongBytes == 2)
  }

  @Test func `a turn that is over is over`() {
    let late = Self.came + [Self.came[0]]
    #expect(judge([Self.said], late).counts.order == 1)
    #expect(judge([Self.said], [Self.came[2], Self.came[0]]).counts.order == 1)
    // One that was dead for a time, and a lane without order
    #expect(judge([Self.said + "BACK 1 ordered/s1/1/1\n"], late).counts.order == 0)
    let loose = late.map {
      Arrival(key: $0.key, digest: $0.digest, path: $0.path.replacing("ordered", with: "loose"))
    }
    #expect(judge([Self.said], loose).counts.order == 0)
  }
}
