import Testing

@testable import NetSpoolCLI
@testable import TestSupport

@Suite struct LedgerTests {
  private func key(_ number: Int) -> Fingerprint { Fingerprint(.line, "http://h/\(number)") }

  @Test func `tells rooms and field borders apart`() {
    let keys: Set = [
      Fingerprint(.line, "ab", "c"), Fingerprint(.line, "a", "bc"), Fingerprint(.done, "ab", "c"),
      Fingerprint(.line, "abc"), Fingerprint(.line, "", "abc"),
      Fingerprint(.line, "\u{E9}"), Fingerprint(.line, "e\u{301}"),
    ]
    #expect(keys.count == 7)
  }

  /// Two frames of memory, so that nearly every access goes through the file.
  @Test(arguments: [1, 2, 16, 512])
  func `agrees with a dictionary while it grows and spills`(framesMax: Int) throws {
    let seed = UInt64.random(in: .min ... .max)
    var random = SplitMix64(seed: seed)
    let ledger = Ledger(directory: "/tmp", framesMax: framesMax)
    var model: [Int: UInt32] = [:]
    for step in 0..<20_000 {
      let number = Int.random(in: 0..<9_000, using: &random)
      if Bool.random(using: &random) {
        #expect(try ledger.insert(key(number), UInt32(step)) == model[number], "seed \(seed)")
        if model[number] == nil { model[number] = UInt32(step) }
      } else {
        try ledger.set(key(number), UInt32(step))
        model[number] = UInt32(step)
      }
    }
    #expect(ledger.count == model.count)
    for number in 0..<10_000 {
      #expect(try ledger.value(key(number)) == model[number], "seed \(seed), \(number)")
    }
    try ledger.set(key(0), Ledger.valueMax)
    #expect(try ledger.value(key(0)) == Ledger.valueMax)
  }

  @Test func `wraps around the table's end`() throws {
    let ledger = Ledger()
    let keys = (0..<100).map { Fingerprint(high: .max, low: UInt32($0)) }
    for (number, key) in keys.enumerated() { try ledger.insert(key, UInt32(number)) }
    for (number, key) in keys.enumerated() { #expect(try ledger.value(key) == UInt32(number)) }
  }

  @Test func `says where it could not spill`() throws {
    let ledger = Ledger(directory: "/dev/null/none", framesMax: 1)
    let failure = #expect(throws: IOFailure.self) {
      for number in 0..<10_000 { try ledger.insert(key(number)) }
    }
    #expect(failure?.path == "/dev/null/none")
  }
}
