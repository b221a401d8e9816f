internal import Glibc
internal import Synchronization

/// The name beside its target, `.name.netspool-new`, that a working file has for a moment while it replaces another, or
/// all the time where the file system has no files without a name.
///
/// The file is locked as long as its process lives. One that is not locked was left by a process that was killed, and
/// goes as soon as another body is written to the same target; where all working files have names, as soon as one is
/// written to the same directory.
enum HiddenName {
  private static let ending = ".netspool-new"

  /// Creates a file with a hidden name, and locks it.
  static func create(
    for target: FileTarget, in directory: borrowing FileDescriptor, _ name: inout String?
  ) throws(SystemError) -> FileDescriptor {
    while true {
      let free = find(for: target, in: directory)
      do throws(SystemError) {
        let file = try directory.createNew(free)
        // Who sweeps at this very moment had the lock before us, and removes the file. A file system without locks has
        // nobody who asks for them either.
        let isSwept = !file.tryLock() && errno == EWOULDBLOCK
        guard directory.isName(free, of: file) else { continue }
        if isSwept {
          directory.unlink(free)
          continue
        }
        name = free
        return file
      } catch {
        guard error.number == EEXIST else { throw error }
      }
    }
  }

  /// Gives a file that has no name a hidden one, locked before anybody can see it.
  static func give(
    to file: borrowing FileDescriptor, for target: FileTarget, in directory: borrowing FileDescriptor
  ) throws(SystemError) -> String {
    _ = file.tryLock()
    while true {
      let free = find(for: target, in: directory)
      do throws(SystemError) {
        try directory.link(descriptor: file.rawValue, as: free)
        return free
      } catch {
        guard error.number == EEXIST else { throw error }
      }
    }
  }

  /// The target's own hidden name, or one that cannot be guessed while another body is on its way to the same target.
  private static func find(for target: FileTarget, in directory: borrowing FileDescriptor) -> String {
    let own = target.hiddenName("new")
    removeDead(own, in: directory)
    guard FileStatus(named: own, in: directory) != nil else { return own }
    return "\(own)-\(Hexadecimal.text(UInt64.random(in: .min ... .max)))"
  }

  private static func isHidden(_ name: String) -> Bool {
    guard name.hasPrefix(".") else { return false }
    return name.hasSuffix(ending) || name.dropLast(17).hasSuffix(ending)
  }

  private static func removeDead(_ name: String, in directory: borrowing FileDescriptor) {
    guard FileStatus(named: name, in: directory)?.isRegular == true else { return }
    guard let file = try? directory.openExisting(name), file.tryLock() else { return }
    if directory.isName(name, of: file) { directory.unlink(name) }
  }

  /// The directories that this process has swept: once each, as a directory may have a million names.
  private static let swept = Mutex<Set<String>>([])
  private static let sweptMax = 10_000

  /// Removes what dead processes left in a directory.
  static func sweep(_ directory: borrowing FileDescriptor, at path: String) {
    guard let identity = try? FileStatus(of: directory).identity else { return }
    let isNew = swept.withLock { swept in
      if swept.count == sweptMax { swept = [] }
      return swept.insert("\(identity.device) \(identity.inode) \(path)").inserted
    }
    guard isNew else { return }
    for name in SystemText.names(inDirectory: path) where isHidden(name) { removeDead(name, in: directory) }
  }
}
