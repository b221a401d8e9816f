import Glibc
import Synchronization

/// A new empty folder that only this user can enter. It goes away with its last reference, and with all that is in it.
final class TestFolder: Sendable {
  let path: String
  private let isKept = Atomic(false)

  init(in base: String = TestFiles.temporary) throws { path = try TestFiles.makeDirectory(in: base) }

  deinit { if !isKept.load(ordering: .relaxed) { TestFiles.remove(path) } }

  /// Leaves the folder behind, for whoever looks for a fault.
  func keep() { isKept.store(true, ordering: .relaxed) }

  /// The path of a name in it.
  subscript(_ name: String) -> String { "\(path)/\(name)" }

  /// All names in it in their order, hidden ones too.
  var names: [String] { TestFiles.names(in: path).sorted() }

  /// Writes a file, whose inode stays when it is there already, and answers its path.
  @discardableResult
  func write(_ name: String, _ bytes: some Collection<UInt8>, permissions: mode_t? = nil) throws -> String {
    try TestFiles.write(bytes, to: self[name])
    if let permissions, unsafe chmod(self[name], permissions) != 0 {
      throw PartFailure("chmod \(self[name]): errno \(errno)")
    }
    return self[name]
  }

  @discardableResult
  func write(_ name: String, _ text: String) throws -> String { try write(name, Array(text.utf8)) }

  func read(_ name: String) throws -> [UInt8] { try TestFiles.read(self[name]) }

  func text(_ name: String) throws -> String { try TestFiles.text(self[name]) }

  func remove(_ name: String) throws {
    guard unsafe unlink(self[name]) == 0 else { throw PartFailure("unlink \(self[name]): errno \(errno)") }
  }

  /// Makes a symbolic link.
  func link(_ name: String, to target: String) throws {
    guard unsafe symlink(target, self[name]) == 0 else {
      throw PartFailure("symlink \(self[name]): errno \(errno)")
    }
  }
}
