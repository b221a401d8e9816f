/// SipHash-2-4 with 128 bits of output (https://github.com/veorq/SipHash): for short texts, about eight times as
/// fast as SHA-256 without the CPU's help.
enum SipHash {
  /// Two words under a key of two words; little-endian on every machine.
  static func hash(_ bytes: RawSpan, key: (UInt64, UInt64)) -> (UInt64, UInt64) {
    var state = State(key)
    let rest = bytes.byteCount & 7
    var offset = 0
    while offset < bytes.byteCount - rest {
      state.add(bytes.integer(at: offset))
      offset += 8
    }
    var last = UInt64(truncatingIfNeeded: bytes.byteCount) << 56
    for index in 0..<rest { last |= UInt64(bytes.byte(at: offset + index)) << UInt64(8 * index) }
    state.add(last)
    state.third ^= 0xEE
    let low = state.finish()
    state.second ^= 0xDD
    return (low, state.finish())
  }

  private struct State {
    var first, second, third, fourth: UInt64

    init(_ key: (UInt64, UInt64)) {
      first = key.0 ^ 0x736F_6D65_7073_6575
      second = key.1 ^ 0x646F_7261_6E64_6F6D ^ 0xEE
      third = key.0 ^ 0x6C79_6765_6E65_7261
      fourth = key.1 ^ 0x7465_6462_7974_6573
    }

    @inline(__always)
    mutating func add(_ word: UInt64) {
      fourth ^= word
      stir()
      stir()
      first ^= word
    }

    @inline(__always)
    mutating func finish() -> UInt64 {
      for _ in 0..<4 { stir() }
      return first ^ second ^ third ^ fourth
    }

    @inline(__always)
    private mutating func stir() {
      first &+= second
      second = second.rotated(by: 13) ^ first
      first = first.rotated(by: 32)
      third &+= fourth
      fourth = fourth.rotated(by: 16) ^ third
      first &+= fourth
      fourth = fourth.rotated(by: 21) ^ first
      third &+= second
      second = second.rotated(by: 17) ^ third
      third = third.rotated(by: 32)
    }
  }
}

extension UInt64 {
  @inline(__always)
  fileprivate func rotated(by bits: UInt64) -> UInt64 { self << bits | self >> (64 - bits) }
}
