import Glibc

@testable import NetSpool
@testable import TestSupport

/// What the tests of this folder share.
enum SinkFixture {
  static let head = ResponseHead(version: .http11, status: 200, headers: Headers())
  static let broken = NetworkError(.connectionLost)

  /// Bytes that show a swap, a gap or a repetition: random ones with a period that no buffer size divides.
  static func pattern(_ count: Int, seed: UInt64 = 1) -> [UInt8] {
    var random = SplitMix64(seed: seed)
    let words = (0..<(min(count, period) / 8 + 1)).map { _ in random.next() }
    let block = unsafe words.withUnsafeBytes { unsafe Array($0.prefix(period)) }
    var bytes: [UInt8] = []
    bytes.reserveCapacity(count)
    while bytes.count < count { bytes.append(contentsOf: block.prefix(count - bytes.count)) }
    return bytes
  }

  private static let period = 40_009

  static func sha256(_ bytes: [UInt8]) -> [UInt8] {
    var digest = SHA256()
    unsafe digest.update(bytes.span.bytes)
    return digest.finish()
  }
}

/// What files of a body are asked.
extension TestFolder {
  /// Nil where there is no such file.
  func bytes(_ name: String) -> [UInt8]? { try? read(name) }

  func permissions(_ name: String) throws -> mode_t {
    var status = stat()
    guard unsafe stat(self[name], &status) == 0 else { throw PartFailure("stat \(name): errno \(errno)") }
    return status.st_mode & 0o7777
  }

  func isLink(_ name: String) -> Bool {
    var status = stat()
    return unsafe lstat(self[name], &status) == 0 && status.st_mode & S_IFMT == S_IFLNK
  }
}
