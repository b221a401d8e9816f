internal import Glibc

/// A cookie file: text of a few kilobytes, secret.
enum CookieFile {
  private static let bytesMax = 4 << 20
  /// As many as browsers keep (RFC 6265 section 6.1). libcurl compares each with all others of its host.
  static let cookiesMax = 3_000

  /// Writes beside the target and renames. Throws `.sinkFailed`.
  static func write(_ bytes: [UInt8], to path: String) throws(NetworkError) {
    let working = path + ".new-\(getpid())"
    do throws(SystemError) {
      _ = unsafe Glibc.unlink(working)
      var file = try FileDescriptor(
        opening: working, flags: O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW)
      try file.writeAll(bytes.rawBytes, at: 0)
      try file.close()
      _ = try SystemError.check("rename") { unsafe Glibc.rename(working, path) }
    } catch {
      _ = unsafe Glibc.unlink(working)
      throw NetworkError(.sinkFailed, reason: error.call, underlying: .errno(error.number))
    }
  }

  /// The lines that are cookies. Throws `.uploadSourceFailed`.
  static func lines(of path: String) throws(NetworkError) -> [String] {
    let bytes: [UInt8]
    do throws(SystemError) {
      bytes = try FileDescriptor(opening: path, flags: O_RDONLY | O_CLOEXEC).bytes(atMost: bytesMax + 1)
    } catch {
      throw NetworkError(.uploadSourceFailed, reason: error.call, underlying: .errno(error.number))
    }
    guard bytes.count <= bytesMax else {
      throw NetworkError(
        .uploadSourceFailed, reason: "more than \(bytesMax) bytes", underlying: .errno(EFBIG))
    }
    let lines = bytes.split(separator: UInt8(ascii: "\n"))
      .filter { $0.count(where: { $0 == 0x09 }) == 6 }
      .map { String(decoding: $0, as: UTF8.self) }
    guard lines.count <= cookiesMax else {
      throw NetworkError(
        .uploadSourceFailed, reason: "more than \(cookiesMax) cookies", underlying: .errno(EFBIG))
    }
    return lines
  }

  /// A cookie's time is over, or its origin has deleted it, which is a time long ago.
  static func isOver(_ line: String, at seconds: Int64) -> Bool {
    let fields = line.utf8.split(
      separator: UInt8(ascii: "\t"), maxSplits: 5, omittingEmptySubsequences: false)
    guard fields.count > 5, let end = Int64(Substring(fields[4])) else { return false }
    return end > 0 && end <= seconds
  }
}
