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
  private let mapping = Mutex<UInt>(0)

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
    let (address, count) = (mapping.withLock { $0 }, count)
    let close: @Sendable () -> Void = {
      if let start = unsafe UnsafeMutableRawPointer(bitPattern: address) { unsafe munmap(start, count) }
      _ = FileDescriptor(owning: number)
      room.give(taken)
    }
    do { try SystemThread.start(name: "netspool-closing", close).detach() } catch { close() }
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

  /// Nothing is written any more, and the bytes can be lent. False when the system has no room for them.
  func map() -> Bool { unsafe mapped != nil }

  /// Lends all bytes; `map` must have said yes.
  func withUnsafeBytes<Result, Problem: Error>(
    _ use: (UnsafeRawBufferPointer) throws(Problem) -> Result
  ) throws(Problem) -> Result {
    try unsafe use(mapped ?? UnsafeRawBufferPointer(start: nil, count: 0))
  }

  /// The same for as long as the file lives.
  var rawBytes: RawSpan {
    @_lifetime(borrow self)
    get {
      let span = unsafe RawSpan(_unsafeBytes: mapped ?? UnsafeRawBufferPointer(start: nil, count: 0))
      return unsafe _overrideLifetime(span, borrowing: self)
    }
  }

  private var mapped: UnsafeRawBufferPointer? {
    let (number, count) = (number, count)
    let address = mapping.withLock { address -> UInt in
      if address == 0, count > 0 {
        let start = UInt(bitPattern: unsafe mmap(nil, count, PROT_READ, MAP_SHARED, number, 0))
        if start != UInt(bitPattern: -1) { address = start }
      }
      return address
    }
    guard let start = unsafe UnsafeRawPointer(bitPattern: address) else { return nil }
    return unsafe UnsafeRawBufferPointer(start: start, count: count)
  }
}
