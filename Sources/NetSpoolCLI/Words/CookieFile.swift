import Glibc

/// A cookie jar: Netscape's file, one cookie in each line.
enum CookieFile {
  /// The lines that are cookies, or fields `Set-Cookie: ...`; none for a file that is not there, as with curl. `-` is standard
  /// input.
  static func lines(of path: String) throws(IOFailure) -> [String] {
    guard path == "-" || FileStatus(path: path) != nil else { return [] }
    let bytes = try Descriptor.reading(path).readAll(atMost: UserFile.bytesMax * 16)
    let lines = String(decoding: bytes, as: UTF8.self).split(whereSeparator: \.isNewline).map(String.init)
    return lines.filter { line in
      line.hasPrefix("#HttpOnly_") || line.lowercased().hasPrefix("set-cookie:")
        || !line.hasPrefix("#") && line.split(separator: "\t").count >= 6
    }
  }

  /// Writes all of them, in one step and for their owner's eyes only; `-` is standard output.
  static func write(_ lines: [String], to path: String) throws(IOFailure) {
    let text = (["# Netscape HTTP Cookie File", ""] + lines.sorted()).map { "\($0)\n" }.joined()
    if path == "-" { return try StandardOutput.write(Array(text.utf8)) }
    let draft = "\(path).netspool-\(OwnName.word)"
    do throws(IOFailure) {
      try Descriptor(opening: draft, O_WRONLY | O_CREAT | O_EXCL, mode: 0o600).write(Array(text.utf8))
      guard unsafe rename(draft, path) == 0 else { throw .last("write", path) }
    } catch {
      unsafe unlink(draft)
      throw error
    }
  }
}
