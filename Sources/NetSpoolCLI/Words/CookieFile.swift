/// A cookie jar: Netscape's file, one cookie in each line.
enum CookieFile {
  /// The cookies, or fields `Set-Cookie: ...`; none of a file that is missing, as with curl. `-` is standard input.
  static func lines(of path: String) throws(IOFailure) -> [String] {
    guard path == "-" || FileFacts(path: path) != nil else { return [] }
    let bytes = try Descriptor.reading(path).readAll(atMost: UserFile.bytesMax * 16)
    let lines = String(decoding: bytes, as: UTF8.self).split(whereSeparator: \.isNewline).map(String.init)
    return lines.filter { line in
      line.hasPrefix("#HttpOnly_") || line.lowercased().hasPrefix("set-cookie:")
        || !line.hasPrefix("#") && line.split(separator: "\t").count >= 6
    }
  }

  /// Writes all of them, for their owner's eyes only; `-` is standard output.
  static func write(_ lines: [String], to path: String) throws(IOFailure) {
    let text = (["# Netscape HTTP Cookie File", ""] + lines.sorted()).map { "\($0)\n" }.joined()
    if path == "-" { return try StandardOutput.write(Array(text.utf8)) }
    try WholeFile.write(Array(text.utf8), to: path, mode: 0o600)
  }
}
