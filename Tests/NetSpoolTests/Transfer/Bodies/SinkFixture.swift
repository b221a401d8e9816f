import Foundation
import Testing

@testable import NetSpool

/// What the tests of this folder share.
enum SinkFixture {
  static let head = ResponseHead(version: .http11, status: 200, headers: Headers())
  static let broken = NetworkError(.connectionLost)

  /// Bytes that show a swap, a gap or a repetition: random ones with a period that no buffer size divides.
  static func pattern(_ count: Int, seed: UInt64 = 1) -> [UInt8] {
    var random = Random(seed: seed)
    let words = (0..<(min(count, period) / 8 + 1)).map { _ in random.next() }
    let block = unsafe words.withUnsafeBytes { unsafe Array($0.prefix(period)) }
    var bytes: [UInt8] = []
    bytes.reserveCapacity(count)
    while bytes.count < count { bytes.append(contentsOf: block.prefix(count - bytes.count)) }
    return bytes
  }

  private static let period = 300_007

  /// The same bytes over and over.
  static func repeated(_ bytes: [UInt8], _ times: Int) -> [UInt8] {
    var all: [UInt8] = []
    for _ in 0..<times { all.append(contentsOf: bytes) }
    return all
  }

  static func sha256(_ bytes: [UInt8]) -> [UInt8] {
    var digest = SHA256()
    unsafe digest.update(bytes.span.bytes)
    return digest.finish()
  }

  /// SplitMix64.
  struct Random: RandomNumberGenerator {
    private var state: UInt64

    init(seed: UInt64) { state = seed }

    mutating func next() -> UInt64 {
      state &+= 0x9E37_79B9_7F4A_7C15
      var z = state
      z = (z ^ (z >> 30)) &* 0xBF58_476D_1CE4_E5B9
      z = (z ^ (z >> 27)) &* 0x94D0_49BB_1331_11EB
      return z ^ (z >> 31)
    }
  }
}

/// A directory that goes with the value.
final class SinkDirectory {
  let path: String

  init() throws {
    path = FileManager.default.temporaryDirectory.path + "/netspool-sinks-\(UUID().uuidString)"
    try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
  }

  deinit { try? FileManager.default.removeItem(atPath: path) }

  func path(_ name: String) -> String { path + "/" + name }

  /// Every name in it, hidden ones too.
  var names: [String] { ((try? FileManager.default.contentsOfDirectory(atPath: path)) ?? []).sorted() }

  func bytes(_ name: String) -> [UInt8]? {
    FileManager.default.contents(atPath: path(name)).map { [UInt8]($0) }
  }

  func put(_ name: String, _ bytes: [UInt8], permissions: Int = 0o644) {
    let attributes: [FileAttributeKey: Any] = [.posixPermissions: permissions]
    _ = FileManager.default.createFile(atPath: path(name), contents: Data(bytes), attributes: attributes)
  }

  func permissions(_ name: String) throws -> Int? {
    try FileManager.default.attributesOfItem(atPath: path(name))[.posixPermissions] as? Int
  }

  func link(_ name: String, to target: String) throws {
    try FileManager.default.createSymbolicLink(atPath: path(name), withDestinationPath: target)
  }

  func isLink(_ name: String) -> Bool {
    (try? FileManager.default.destinationOfSymbolicLink(atPath: path(name))) != nil
  }
}
