import Glibc

/// Files for tests, without Foundation.
enum TestFiles {
  /// `Tests/Parts`, where the servers' scripts and configurations are.
  static let parts: String = {
    let path = #filePath.split(separator: "/", omittingEmptySubsequences: false).dropLast(3)
    return path.joined(separator: "/") + "/Parts"
  }()

  /// A new empty directory that only this user can enter. Who makes it removes it.
  static func makeDirectory() throws -> String {
    let base = unsafe getenv("TMPDIR").map { unsafe String(cString: $0) } ?? "/tmp"
    var template = Array("\(base)/netspool-tests-XXXXXX".utf8CString)
    guard unsafe mkdtemp(&template) != nil else { throw PartFailure("mkdtemp in \(base): errno \(errno)") }
    return String(decoding: template.dropLast().map(UInt8.init(bitPattern:)), as: UTF8.self)
  }

  /// Makes one directory; its parent must be there.
  static func makeDirectory(_ path: String) throws {
    guard unsafe mkdir(path, 0o700) == 0 || errno == EEXIST else {
      throw PartFailure("\(path): errno \(errno)")
    }
  }

  static func write(_ bytes: some Collection<UInt8>, to path: String) throws {
    let file = try unsafe Descriptor(
      owning: open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o600), from: "open \(path)")
    var rest = Array(bytes)[...]
    while !rest.isEmpty {
      let count = unsafe rest.withUnsafeBytes { unsafe Glibc.write(file.number, $0.baseAddress, $0.count) }
      guard count > 0 else { throw PartFailure("write \(path): errno \(errno)") }
      rest = rest.dropFirst(count)
    }
  }

  static func read(_ path: String) throws -> [UInt8] {
    let file = try unsafe Descriptor(owning: open(path, O_RDONLY | O_CLOEXEC), from: "open \(path)")
    var all: [UInt8] = []
    while true {
      let more = unsafe [UInt8](unsafeUninitializedCapacity: 64 * 1024) { buffer, count in
        count = unsafe max(0, Glibc.read(file.number, buffer.baseAddress, buffer.count))
      }
      if more.isEmpty { return all }
      all += more
    }
  }

  /// Whether its bytes hold a text.
  static func file(_ path: String, holds text: String) throws -> Bool {
    try read(path).contains(Array(text.utf8))
  }

  static func text(_ path: String) throws -> String { String(decoding: try read(path), as: UTF8.self) }

  /// Bytes that do not compress and are the same in every run.
  static func noise(_ count: Int, seed: UInt64 = 1) -> [UInt8] {
    var state = seed
    return (0..<count).map { _ in
      state &+= 0x9E37_79B9_7F4A_7C15
      var z = state
      z = (z ^ (z >> 30)) &* 0xBF58_476D_1CE4_E5B9
      z = (z ^ (z >> 27)) &* 0x94D0_49BB_1331_11EB
      return UInt8(truncatingIfNeeded: z ^ (z >> 31))
    }
  }
}
