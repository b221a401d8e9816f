import Glibc

/// A file whose first line is a password.
enum PasswordFile {
  /// Passwords are shorter; what follows the first line may be anything.
  private static let bytesMax = 4_096

  /// The first line without its end; `-` is standard input.
  static func read(_ path: String) throws(IOFailure) -> String {
    let file =
      path == "-"
      ? Descriptor(borrowing: 0, named: "standard input") : try Descriptor(opening: path, O_RDONLY)
    var bytes = [UInt8](repeating: 0, count: bytesMax)
    var count = 0
    while count < bytesMax, !bytes[..<count].contains(UInt8(ascii: "\n")) {
      let more = try file.read(into: &bytes, at: count, count: bytesMax - count)
      if more == 0 { break }
      count += more
    }
    var line = bytes[..<count].prefix { $0 != UInt8(ascii: "\n") }
    if line.last == UInt8(ascii: "\r") { line.removeLast() }
    return String(decoding: line, as: UTF8.self)
  }
}
