internal import CNetSpoolShims

/// A SHA-256 digest in progress (FIPS 180-4). A copy goes its own way from where it was made.
///
/// About 1.4 GB/s with the CPU's SHA instructions, 0.2 GB/s without.
@safe struct SHA256: Sendable {
  private var digest: cnetspool_sha256

  /// `accelerated: false` takes the portable path whatever the CPU can do; for tests.
  init(accelerated: Bool = true) { digest = cnetspool_sha256_make(accelerated) }

  mutating func update(_ bytes: RawSpan) {
    unsafe bytes.withUnsafeBytes { buffer in
      unsafe cnetspool_sha256_update(&digest, buffer.baseAddress, buffer.count)
    }
  }

  /// The 32 bytes of the digest of everything so far; the digest itself may go on.
  func finish() -> [UInt8] {
    var last = digest
    return unsafe [UInt8](unsafeUninitializedCapacity: 32) { buffer, count in
      unsafe cnetspool_sha256_finish(&last, buffer.baseAddress!)
      count = 32
    }
  }

  /// The 32 bytes of a message's digest.
  static func of(_ message: [UInt8]) -> [UInt8] {
    var digest = SHA256()
    digest.update(message.rawBytes)
    return digest.finish()
  }

  /// The first 16 bytes of the digest as two little-endian words, without an array.
  var firstWords: (UInt64, UInt64) {
    var last = digest
    var out: (UInt64, UInt64, UInt64, UInt64) = (0, 0, 0, 0)
    unsafe withUnsafeMutableBytes(of: &out) { buffer in
      unsafe cnetspool_sha256_finish(&last, buffer.bindMemory(to: UInt8.self).baseAddress!)
    }
    return (UInt64(littleEndian: out.0), UInt64(littleEndian: out.1))
  }
}

/// MD5 (RFC 1321), which Digest authentication still asks for. Broken as a fingerprint: used for nothing else.
enum MD5 {
  /// 16 bytes.
  static func hash(_ message: [UInt8]) -> [UInt8] {
    var state: (UInt32, UInt32, UInt32, UInt32) = (0x6745_2301, 0xEFCD_AB89, 0x98BA_DCFE, 0x1032_5476)
    let padded = padded(message)
    for start in stride(from: 0, to: padded.count, by: 64) { add(padded[start..<(start + 64)], to: &state) }
    return [state.0, state.1, state.2, state.3].flatMap(littleEndian)
  }

  private static func padded(_ message: [UInt8]) -> [UInt8] {
    var bytes = message + [0x80]
    bytes += [UInt8](repeating: 0, count: (120 - bytes.count % 64) % 64)
    let bits = UInt64(message.count) &* 8
    return bytes + littleEndian(UInt32(truncatingIfNeeded: bits)) + littleEndian(UInt32(bits >> 32))
  }

  private static func add(_ block: ArraySlice<UInt8>, to state: inout (UInt32, UInt32, UInt32, UInt32)) {
    let words = (0..<16).map { word in
      (0..<4).reduce(UInt32(0)) { $0 | UInt32(block[block.startIndex + word * 4 + $1]) << (8 * $1) }
    }
    var (a, b, c, d) = state
    for step in 0..<64 {
      let (mixed, word) =
        switch step / 16 {
        case 0: ((b & c) | (~b & d), step)
        case 1: ((d & b) | (~d & c), (5 * step + 1) % 16)
        case 2: (b ^ c ^ d, (3 * step + 5) % 16)
        default: (c ^ (b | ~d), (7 * step) % 16)
        }
      let sum = a &+ mixed &+ constants[step] &+ words[word]
      let turn = turns[step / 16][step % 4]
      (a, d, c, b) = (d, c, b, b &+ (sum << turn | sum >> (32 - turn)))
    }
    state = (state.0 &+ a, state.1 &+ b, state.2 &+ c, state.3 &+ d)
  }

  private static func littleEndian(_ word: UInt32) -> [UInt8] {
    (0..<4).map { UInt8(truncatingIfNeeded: word >> (8 * $0)) }
  }

  private static let turns: [[UInt32]] = [
    [7, 12, 17, 22], [5, 9, 14, 20], [4, 11, 16, 23], [6, 10, 15, 21],
  ]

  /// The integer parts of 2^32 * abs(sin(i)).
  private static let constants: [UInt32] = [
    0xd76a_a478, 0xe8c7_b756, 0x2420_70db, 0xc1bd_ceee, 0xf57c_0faf, 0x4787_c62a, 0xa830_4613, 0xfd46_9501,
    0x6980_98d8, 0x8b44_f7af, 0xffff_5bb1, 0x895c_d7be, 0x6b90_1122, 0xfd98_7193, 0xa679_438e, 0x49b4_0821,
    0xf61e_2562, 0xc040_b340, 0x265e_5a51, 0xe9b6_c7aa, 0xd62f_105d, 0x0244_1453, 0xd8a1_e681, 0xe7d3_fbc8,
    0x21e1_cde6, 0xc337_07d6, 0xf4d5_0d87, 0x455a_14ed, 0xa9e3_e905, 0xfcef_a3f8, 0x676f_02d9, 0x8d2a_4c8a,
    0xfffa_3942, 0x8771_f681, 0x6d9d_6122, 0xfde5_380c, 0xa4be_ea44, 0x4bde_cfa9, 0xf6bb_4b60, 0xbebf_bc70,
    0x289b_7ec6, 0xeaa1_27fa, 0xd4ef_3085, 0x0488_1d05, 0xd9d4_d039, 0xe6db_99e5, 0x1fa2_7cf8, 0xc4ac_5665,
    0xf429_2244, 0x432a_ff97, 0xab94_23a7, 0xfc93_a039, 0x655b_59c3, 0x8f0c_cc92, 0xffef_f47d, 0x8584_5dd1,
    0x6fa8_7e4f, 0xfe2c_e6e0, 0xa301_4314, 0x4e08_11a1, 0xf753_7e82, 0xbd3a_f235, 0x2ad7_d2bb, 0xeb86_d391,
  ]
}

/// Hashes of secrets under a random key that never leaves this process (HMAC-SHA-256, RFC 2104): they tell
/// two credentials apart while the process lives and say nothing to a later reader of the disk.
enum ProcessSecret {
  private static let key: [UInt8] = {
    var random = SystemRandomNumberGenerator()
    return (0..<32).map { _ in UInt8.random(in: 0...255, using: &random) }
  }()

  /// 32 bytes. Each part counts with its length, so that no two lists of parts run together.
  static func hash(_ parts: [[UInt8]]) -> [UInt8] { hash(parts, key: key) }

  static func hash(_ parts: [[UInt8]], key: [UInt8]) -> [UInt8] {
    var message: [UInt8] = []
    for part in parts {
      message.append(integer: UInt64(part.count))
      message += part
    }
    return HMAC.sha256(message, key: key)
  }
}

/// Hashes that only who has the key can make (RFC 2104).
enum HMAC {
  /// 32 bytes.
  static func sha256(_ message: [UInt8], key: [UInt8]) -> [UInt8] {
    let key = key.count > blockBytes ? SHA256.of(key) : key
    return SHA256.of(padded(key, 0x5C) + SHA256.of(padded(key, 0x36) + message))
  }

  /// SHA-256's.
  private static let blockBytes = 64

  private static func padded(_ key: [UInt8], _ pad: UInt8) -> [UInt8] {
    (0..<blockBytes).map { ($0 < key.count ? key[$0] : 0) ^ pad }
  }
}
