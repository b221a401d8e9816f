/// Hashes of secrets under a random key that never leaves this process (HMAC-SHA-256, RFC 2104): they tell
/// two credentials apart while the process lives and say nothing to whoever reads the disk later.
enum ProcessSecret {
  private static let key: [UInt8] = {
    var random = SystemRandomNumberGenerator()
    return (0..<32).map { _ in UInt8.random(in: 0...255, using: &random) }
  }()

  /// 32 bytes. Each part counts with its length, so that no two lists of parts run together.
  static func hash(_ parts: [[UInt8]]) -> [UInt8] { hash(parts, key: key) }

  static func hash(_ parts: [[UInt8]], key: [UInt8]) -> [UInt8] {
    var inner = SHA256()
    inner.update(padded(key, 0x36).rawBytes)
    for part in parts {
      var length: [UInt8] = []
      length.append(integer: UInt64(part.count))
      inner.update(length.rawBytes)
      inner.update(part.rawBytes)
    }
    var outer = SHA256()
    outer.update(padded(key, 0x5C).rawBytes)
    outer.update(inner.finish().rawBytes)
    return outer.finish()
  }

  /// A key of at most 64 bytes, SHA-256's block.
  private static func padded(_ key: [UInt8], _ pad: UInt8) -> [UInt8] {
    (0..<64).map { ($0 < key.count ? key[$0] : 0) ^ pad }
  }
}
