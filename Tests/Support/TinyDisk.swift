import Glibc

/// A file system of a few MiB in memory, where the tests may mount one.
final class TinyDisk {
  let directory: TestFolder

  static let isPossible = TinyDisk(mebibytes: 1) != nil

  /// Nil without the right to mount.
  init?(mebibytes: Int) {
    guard let directory = try? TestFolder() else { return nil }
    self.directory = directory
    let options = "size=\(mebibytes)m,mode=700"
    guard unsafe mount("tmpfs", directory.path, "tmpfs", 0, options) == 0 else { return nil }
  }

  deinit { unsafe umount2(directory.path, CInt(MNT_DETACH)) }

  private var ballast: String { directory["ballast"] }

  /// Leaves nothing for others, or so many pages if there are as many.
  func fill(leaving pages: Int = 0) throws {
    let file = unsafe open(ballast, O_WRONLY | O_CREAT | O_CLOEXEC, 0o600)
    guard file >= 0 else { throw PartFailure("ballast: errno \(errno)") }
    defer { close(file) }
    let page = [UInt8](repeating: 7, count: 4_096)
    var written = 0
    while unsafe write(file, page, page.count) > 0 { written += page.count }
    ftruncate(file, max(0, written - pages * page.count))
  }

  func empty() throws {
    guard unsafe unlink(ballast) == 0 else { throw PartFailure("ballast: errno \(errno)") }
  }
}
