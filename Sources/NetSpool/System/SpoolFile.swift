internal import Glibc
internal import Synchronization

/// A file without a name, for bytes that are on their way: written by one thread from front to back, read by any. Nothing is
/// left of it however the process ends.
///
/// Writing and reading block. The last reference may go anywhere: a thread of its own closes the file, as freeing a long
/// file's blocks takes time, and on a disk that hangs for ever.
@safe final class SpoolFile: Sendable {
  /// -1 stands for none, as in `FileDescriptor`.
  private let number: Int32
  private let room: BudgetRoom
  /// Bytes that are in the file, and those that the room counts for it.
  private let written = Atomic(0)
  private let taken = Atomic(0)
  private let mapping = Mutex<MappedFile?>(nil)

  /// Where the file system has no files without a name it has one for a moment.
  init(in directory: String, room: BudgetRoom) throws(SystemError) {
    let directory = try FileDescriptor.directory(directory)
    if let file = try directory.createUnnamed() {
      number = file.release()
    } else {
      let name = ".netspool-spool-\(Hexadecimal.text(UInt64.random(in: .min ... .max)))"
      let file = try directory.createNew(name)
      directory.unlink(name)
      number = file.release()
    }
    self.room = room
  }

  deinit {
    let (number, room) = (number, room)
    let taken = taken.load(ordering: .relaxed)
    SystemThread.close {
      _ = FileDescriptor(owning: number)
      room.give(taken)
    }
  }

  /// The number of bytes that can be read.
  var count: Int { written.load(ordering: .acquiring) }

  /// Writes behind what is there. EDQUOT when all spools together have what they may have.
  func append(_ bytes: RawSpan) throws(SystemError) {
    guard room.take(bytes.byteCount) else { throw SystemError(number: EDQUOT, call: "pwrite") }
    taken.add(bytes.byteCount, ordering: .relaxed)
    let start = count
    var done = 0
    while done < bytes.byteCount {
      let rest = bytes.extracting(done...)
      done += try unsafe rest.withUnsafeBytes { buffer throws(SystemError) in
        try SystemError.check("pwrite") {
          unsafe pwrite(number, buffer.baseAddress, buffer.count, off_t(start + done))
        }
      }
    }
    written.store(start + done, ordering: .releasing)
  }

  /// Fills a buffer with the bytes from an offset on; all of them must be there.
  func read(into buffer: UnsafeMutableRawBufferPointer, at offset: Int) throws(SystemError) {
    var done = 0
    while done < buffer.count {
      let count = try SystemError.check("pread") {
        unsafe pread(number, buffer.baseAddress! + done, buffer.count - done, off_t(offset + done))
      }
      guard count > 0 else { throw SystemError(number: EIO, call: "pread") }
      done += count
    }
  }

  /// Some of the bytes from an offset on.
  func read(at offset: Int, max: Int) throws(SystemError) -> [UInt8] {
    let wanted = min(max, count - offset)
    var failure: SystemError?
    let bytes = unsafe [UInt8](unsafeUninitializedCapacity: wanted) { buffer, initialised in
      do throws(SystemError) {
        unsafe try read(into: UnsafeMutableRawBufferPointer(buffer), at: offset)
        initialised = wanted
      } catch { failure = error }
    }
    if let failure { throw failure }
    return bytes
  }

  // MARK: The whole

  /// All bytes; nothing is written any more. Nil when there are none, or the system has no room for them.
  var mapped: MappedFile? {
    mapping.withLock { mapped in
      if mapped == nil, count > 0 { mapped = MappedFile(number, count: count, isNamed: false) }
      return mapped
    }
  }

  /// Gives the file a name in a directory of the same file system; a taken name is EEXIST. ENOENT for a file that has had a
  /// name before.
  func link(in directory: borrowing FileDescriptor, as name: String) throws(SystemError) {
    _ = fchmod(number, 0o600)  // whatever the umask has made of it
    try directory.link(descriptor: number, as: name)
  }
}
