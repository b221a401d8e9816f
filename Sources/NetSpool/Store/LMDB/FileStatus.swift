internal import CNetSpoolShims
internal import Glibc

/// What the stores ask of a file before they trust it.
struct FileStatus: Equatable {
  let identity: EnvironmentIdentity
  let owner: UInt32
  /// Permission bits.
  let mode: UInt32
  let kind: UInt32
  let bytes: Int64

  var isRegular: Bool { kind == UInt32(S_IFREG) }
  var isSymlink: Bool { kind == UInt32(S_IFLNK) }

  init(of descriptor: Int32) throws(SystemError) {
    var facts = cnetspool_file_facts()
    _ = try SystemError.check("fstat") { unsafe cnetspool_file_facts(descriptor, nil, &facts) }
    self.init(facts)
  }

  /// What stands at a name, a symlink not followed; nil when nothing does.
  init?(named name: String, in directory: Int32) {
    var facts = cnetspool_file_facts()
    guard unsafe cnetspool_file_facts(directory, name, &facts) == 0 else { return nil }
    self.init(facts)
  }

  private init(_ facts: cnetspool_file_facts) {
    identity = EnvironmentIdentity(device: facts.device, inode: facts.inode)
    owner = facts.owner
    mode = facts.mode & 0o7777
    kind = facts.mode & UInt32(S_IFMT)
    bytes = facts.bytes
  }
}

/// Which file it is, whatever names lead to it.
struct EnvironmentIdentity: Hashable, Sendable {
  let device: UInt64
  let inode: UInt64
}

/// Small texts and lists that the system keeps in files.
enum SystemText {
  /// The first 4 KiB of a file.
  static func read(_ path: String) -> String? {
    guard let file = try? FileDescriptor(opening: path, flags: O_RDONLY) else { return nil }
    var bytes = [UInt8](repeating: 0, count: 4096)
    let count = unsafe bytes.withUnsafeMutableBytes { buffer in try? unsafe file.read(into: buffer) }
    return count.map { String(decoding: bytes.prefix($0), as: UTF8.self) }
  }

  /// The names in a directory, in no order.
  static func names(inDirectory path: String) -> [String] {
    guard let stream = unsafe opendir(path) else { return [] }
    defer { unsafe closedir(stream) }
    var names: [String] = []
    while let entry = unsafe readdir(stream) {
      let name = unsafe withUnsafePointer(to: &entry.pointee.d_name) { name in
        unsafe name.withMemoryRebound(to: CChar.self, capacity: 256) { unsafe String(cString: $0) }
      }
      if name != "." && name != ".." { names.append(name) }
    }
    return names
  }

  /// All descriptors of this process.
  static func openDescriptors() -> [Int32] { names(inDirectory: "/proc/self/fd").compactMap { Int32($0) } }
}
