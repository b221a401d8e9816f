import Glibc

/// Files for tests, without Foundation.
enum TestFiles {
  /// `Tests/Parts`, where the servers' scripts and configurations are.
  static let parts: String = {
    let path = #filePath.split(separator: "/", omittingEmptySubsequences: false).dropLast(2)
    return path.joined(separator: "/") + "/Parts"
  }()

  /// A file of `Tests/Fixtures`.
  static func fixture(_ name: String) -> String { parts.dropLast("Parts".count) + "Fixtures/\(name)" }

  /// The scripts and programs that show others how to use the library and the tool.
  static let examples = parts.dropLast("Tests/Parts".count) + "examples"

  /// Where temporary files belong, on a disk as a user's are.
  static let temporary = unsafe getenv("TMPDIR").map { unsafe String(cString: $0) } ?? "/tmp"

  /// In memory where the system has such a place, for what is not about disks.
  static let fast = unsafe access("/dev/shm", W_OK) == 0 ? "/dev/shm" : temporary

  /// The program that runs now.
  static let program: String = {
    var bytes = [CChar](repeating: 0, count: 4_096)
    let count = unsafe readlink("/proc/self/exe", &bytes, bytes.count)
    return String(decoding: bytes.prefix(max(0, count)).map(UInt8.init(bitPattern:)), as: UTF8.self)
  }()

  /// A new empty directory that only this user can enter. Who makes it removes it: `TestFolder` does.
  static func makeDirectory(in base: String = temporary) throws -> String {
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

  /// The names in a directory, hidden ones too; none where there is no directory.
  static func names(in directory: String) -> [String] {
    guard let stream = unsafe opendir(directory) else { return [] }
    defer { unsafe closedir(stream) }
    var names: [String] = []
    while let entry = unsafe readdir(stream) {
      names.append(
        unsafe withUnsafeBytes(of: &entry.pointee.d_name) { name in
          unsafe String(decoding: name.prefix { $0 != 0 }, as: UTF8.self)
        })
    }
    return names.filter { $0 != "." && $0 != ".." }
  }

  /// Removes a directory with everything in it, also what its test has locked.
  static func remove(_ directory: String) {
    unsafe chmod(directory, 0o700)
    for name in names(in: directory) where unsafe unlink("\(directory)/\(name)") != 0 {
      remove("\(directory)/\(name)")
    }
    unsafe rmdir(directory)
  }

  static func write(_ bytes: some Collection<UInt8>, to path: String) throws {
    let file = try unsafe TestDescriptor(
      owning: open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o600), from: "open \(path)")
    var rest = Array(bytes)[...]
    while !rest.isEmpty {
      let count = unsafe rest.withUnsafeBytes { unsafe Glibc.write(file.number, $0.baseAddress, $0.count) }
      guard count > 0 else { throw PartFailure("write \(path): errno \(errno)") }
      rest = rest.dropFirst(count)
    }
  }

  static func read(_ path: String) throws -> [UInt8] {
    let file = try unsafe TestDescriptor(owning: open(path, O_RDONLY | O_CLOEXEC), from: "open \(path)")
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
    var random = SplitMix64(seed: seed)
    let words = (0..<(count / 8 + 1)).map { _ in random.next() }
    return unsafe words.withUnsafeBytes { unsafe Array($0.prefix(count)) }
  }
}
