internal import Glibc
internal import Synchronization

/// The long bodies of a store, each in a file of its own, named after its number, in the folder `bodies`.
///
/// A file is there before the record that names it is committed, and goes after the commit that took the record out. What a
/// process leaves that is killed in between, a later opening finds.
final class BodyFiles: Sendable {
  /// Shorter bodies cost less in the trees: a lookup copies 64 KiB in 3 us, and opens a file in 7.
  static let bytesMin = 64 << 10

  static let folderName = "bodies"

  private struct Opened {
    weak var file: MappedFile?
  }

  private let folder: FileDescriptor
  /// The files that are held, by the numbers of their bodies: none is opened twice.
  private let opened = Mutex<[UInt64: Opened]>([:])

  init(in directory: EnvironmentDirectory) throws(NetworkError) {
    folder = try directory.openFolder(Self.folderName)
  }

  private static func name(_ id: UInt64) -> String { Hexadecimal.text(id) }

  /// Bytes on the disk of a body of so many.
  static func weight(_ bytes: Int) -> Int { (bytes + 4_095) & ~4_095 }

  // MARK: Writing

  /// Stores a body under its number, and answers its checksum. A spool only gets a name, unless it had one before.
  func store(_ body: PendingBody, as id: UInt64) throws(StoreError) -> UInt64 {
    do throws(SystemError) {
      switch body {
      case .bytes(let bytes):
        try write(bytes.rawBytes, as: id)
        return Checksum.of(bytes.rawBytes)
      case .spooled(let file):
        guard let mapped = file.mapped else { throw SystemError(number: ENOMEM, call: "mmap") }
        do throws(SystemError) {
          try file.link(in: folder, as: Self.name(id))
        } catch {
          try write(mapped.rawBytes, as: id)
        }
        return Checksum.of(mapped.rawBytes)
      }
    } catch {
      throw StoreError(number: error.number)
    }
  }

  private func write(_ bytes: RawSpan, as id: UInt64) throws(SystemError) {
    let file = try folder.createNew(Self.name(id))
    do throws(SystemError) {
      try file.setPermissions(0o600)
      try file.writeAll(bytes, at: 0)
    } catch {
      remove(id)
      throw error
    }
  }

  func remove(_ id: UInt64) {
    opened.withLock { $0[id]?.file?.willLoseName() }
    folder.unlink(Self.name(id))
  }

  // MARK: Reading

  /// Nil when it is not there, or the system refuses.
  func open(_ id: UInt64, count: Int) -> MappedFile? {
    if let file = opened.withLock({ $0[id]?.file }) { return file }
    // Not what another program has put there: a pipe would be waited for.
    let flags = O_RDONLY | O_NOFOLLOW | O_NONBLOCK
    guard let file = try? FileDescriptor(opening: Self.name(id), in: folder, flags: flags),
      let status = try? FileStatus(of: file), status.isRegular, status.bytes == count,
      let mapped = MappedFile(file.rawValue, count: count, isNamed: true)
    else { return nil }
    return opened.withLock { opened in
      if let other = opened[id]?.file { return other }
      // At most every second one is of a file that is not held any more.
      if opened.count >= Self.openedMin, opened.count > 2 * opened.values.count(where: { $0.file != nil }) {
        opened = opened.filter { $0.value.file != nil }
      }
      opened[id] = Opened(file: mapped)
      return mapped
    }
  }

  private static let openedMin = 64

  /// True if it is not there, or not what was written.
  func isLost(_ id: UInt64, count: Int) -> Bool {
    guard let status = FileStatus(named: Self.name(id), in: folder) else { return errno == ENOENT }
    return !status.isRegular || status.bytes != count
  }

  /// The numbers of all that are there.
  var numbers: [UInt64] {
    SystemText.names(inDirectory: "/proc/self/fd/\(folder.rawValue)").compactMap { UInt64($0, radix: 16) }
  }
}
