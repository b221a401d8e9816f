internal import Glibc

/// The file `.name.netspool-append` that stands beside another while a whole body is copied behind that one: locked, and
/// with the other's inode, its length before and the length that it will have.
///
/// A process can be killed in the middle of copying. Then the mark stays and nobody has it locked: the next who appends to
/// the file cuts it back to the length before.
struct AppendMark: ~Copyable {
  private let name: String
  private let mark: FileDescriptor

  /// Puts the body behind the file that is there, whole or not at all. Waits for others who append to the same file, as
  /// long as it grows: `EWOULDBLOCK` where whoever is at it has been stopped.
  static func append(
    _ body: borrowing FileDescriptor, _ bytes: Int64, to target: FileTarget,
    in directory: borrowing FileDescriptor
  ) throws(SystemError) {
    var file = try directory.openExisting(target.name)
    let mark = try AppendMark(waitingFor: target, in: directory, while: file)
    defer { directory.unlink(mark.name) }
    try mark.cutBack(file)
    let old = try FileStatus(of: file)
    try mark.note(old, adding: bytes)
    do throws(SystemError) {
      try body.copy(bytes, to: file, at: old.bytes)
      try file.flush()
    } catch {
      try? file.truncate(to: old.bytes)
      throw error
    }
    try file.close()
  }

  /// Undoes what a dead process left behind the target, and throws what would hinder appending to it.
  static func cutBack(_ target: FileTarget, in directory: borrowing FileDescriptor) throws(SystemError) {
    let file = try directory.openExisting(target.name)
    guard let mark = AppendMark(ofTheDead: target, in: directory) else { return }
    try mark.cutBack(file)
    directory.unlink(mark.name)
  }

  /// How long nothing may come behind the file before whoever has the mark counts as stopped.
  private static let stillMax: Microseconds = 1_000_000

  private init(
    waitingFor target: FileTarget, in directory: borrowing FileDescriptor,
    while file: borrowing FileDescriptor
  ) throws(SystemError) {
    name = target.hiddenName("append")
    let flags = O_RDWR | O_CREAT | O_NOFOLLOW | O_NONBLOCK
    var grown: Int64?
    while true {
      let mark = try FileDescriptor(opening: name, in: directory, flags: flags)
      do throws(SystemError) {
        try mark.lock(patience: Self.stillMax)
      } catch {
        let bytes = try FileStatus(of: file).bytes
        guard error.number == EWOULDBLOCK && bytes != grown else { throw error }
        grown = bytes
        continue
      }
      // The one before us has removed it.
      guard directory.isName(name, of: mark) else { continue }
      self.mark = mark
      break
    }
  }

  private init?(ofTheDead target: FileTarget, in directory: borrowing FileDescriptor) {
    name = target.hiddenName("append")
    guard FileStatus(named: name, in: directory)?.isRegular == true else { return nil }
    guard let mark = try? directory.openExisting(name), mark.tryLock() else { return nil }
    guard directory.isName(name, of: mark) else { return nil }
    self.mark = mark
  }

  private borrowing func note(_ file: FileStatus, adding bytes: Int64) throws(SystemError) {
    try mark.write("\(file.identity.inode) \(file.bytes) \(file.bytes + bytes)")
  }

  /// Only a file that is the same, and ends within what was being put behind it.
  private borrowing func cutBack(_ file: borrowing FileDescriptor) throws(SystemError) {
    let numbers = (mark.startText() ?? "").split(separator: " ").map { Int64($0) ?? -1 }
    let status = try FileStatus(of: file)
    guard numbers.count == 3, numbers[0] == Int64(status.identity.inode) else { return }
    guard numbers[1] >= 0 && numbers[1] < status.bytes && status.bytes < numbers[2] else { return }
    try file.truncate(to: numbers[1])
  }
}
