import Testing

@testable import NetSpool
@testable import TestSupport

/// Answers that were cut off, and answers that were damaged.
struct HeaderParserSplitTests {
  static let answers = [
    "HTTP/1.1 200 OK\r\nServer: nginx\r\nContent-Length: 5\r\nX: a\r\n b\r\n\r\n",
    "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200\nA:b\n\nT: r\r\n\r\n",
    "HTTP/2 302 \r\nlocation: /there\r\nset-cookie: a\r\nset-cookie: b\r\n\r\n",
  ]

  @Test(arguments: answers)
  func `every truncation is seen`(_ text: String) throws {
    let all = Array(text.utf8)
    for cut in 0..<all.count {
      var parser = HeaderParser()
      let said = try feed(&parser, all[..<cut])
      let hasHead = said.contains { if case .head = $0 { true } else { false } }
      #expect(parser.isHeadComplete == hasHead, "cut at \(cut)")
    }
  }

  /// Mutated heads either fail or give a head whose block is well formed; nothing traps.
  @Test(arguments: [1, 2, 3, 4] as [UInt64])
  func `damaged heads never trap`(seed: UInt64) {
    var random = SplitMix64(seed: seed)
    let sources = Self.answers.map { Array($0.utf8) }
    var accepted = 0
    let rounds = LongRun.isOn ? 25_000 : 2_500
    for round in 0..<rounds {
      var head = sources[round % sources.count]
      Self.damage(&head, &random)
      if Self.survives(head) { accepted += 1 }
    }
    // Both sides must have been reached, else the mutations test nothing.
    #expect((rounds / 25..<rounds * 24 / 25).contains(accepted), "seed \(seed): \(accepted) accepted")
  }

  private static let nasty: [UInt8] = [0, 0x09, 0x0A, 0x0D, 0x20, 0x2C, 0x3A, 0x48, 0x7F, 0x80, 0xFF]

  private static func damage(_ head: inout [UInt8], _ random: inout SplitMix64) {
    for _ in 0..<Int.random(in: 1...3, using: &random) {
      let place = Int.random(in: 0..<head.count, using: &random)
      switch Int.random(in: 0..<4, using: &random) {
      case 0: head[place] = nasty.randomElement(using: &random) ?? 0
      case 1: head.insert(nasty.randomElement(using: &random) ?? 0, at: place)
      case 2: head.remove(at: place)
      default: head[place] ^= 1 << UInt8.random(in: 0..<8, using: &random)
      }
    }
  }

  /// Whether it gave a head; the lines of an accepted head must read back as they are counted.
  private static func survives(_ head: [UInt8]) -> Bool {
    var parser = HeaderParser()
    parser.allowsAnotherHead = head.count % 2 == 0
    do throws(NetworkError) {
      var found = false
      var rest = head[...]
      while !rest.isEmpty {
        guard case .head(let answer) = try parser.consume(&rest) else { continue }
        found = true
        try HeaderRules.check(answer.headers)
      }
      try HeaderRules.check(parser.trailers)
      return found
    } catch {
      #expect(error.code != .invalidRequest, "a malformed block: \(head)")
      return false
    }
  }
}
