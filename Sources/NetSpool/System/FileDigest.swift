internal import Glibc
internal import Synchronization

/// What files hold, in hexadecimal digits: to notice that they say something else than before.
enum FileDigest {
  /// Each request with a certificate of its own asks for it, and it seldom changes: a file is read once.
  private static let known = Mutex<[FileVersion: [UInt8]]>([:])

  /// SHA-256 of a file's content; empty where there is no regular file to read. Of longer ones than 64 MiB only the
  /// beginning is read.
  static func text(of path: String) -> String { Hexadecimal.text(content(of: path) ?? []) }

  private static let bytesMax = 64 << 20
  private static let filesMax = 512

  private static func content(of path: String) -> [UInt8]? {
    guard let file = try? FileDescriptor(opening: path, flags: O_RDONLY | O_CLOEXEC | O_NONBLOCK),
      let status = try? FileStatus(of: file), status.isRegular
    else { return nil }
    let version = FileVersion(status)
    if let digest = known.withLock({ $0[version] }) { return digest }
    var digest = SHA256()
    var buffer = [UInt8](repeating: 0, count: 64 << 10)
    for _ in 0..<(bytesMax / buffer.count) {
      let count = unsafe buffer.withUnsafeMutableBytes { unsafe try? file.read(into: $0) }
      guard let count else { return nil }
      if count == 0 { break }
      digest.update(buffer.rawBytes.extracting(0..<count))
    }
    let content = digest.finish()
    // What was written a moment ago may change once more within the same tick of the file system's clock.
    if WallClock.microseconds - version.modified / 1_000 > 2_000_000, (try? FileStatus(of: file)) == status {
      known.withLock { known in
        if known.count >= filesMax { known.removeAll() }
        known[version] = content
      }
    }
    return content
  }
}
