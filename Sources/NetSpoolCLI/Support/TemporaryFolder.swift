import Glibc

/// What no other process has in its names. Process numbers would not do: two containers that share a folder both have
/// the number 1.
enum OwnName {
  static let word = String(UInt64.random(in: .min ... .max), radix: 16)
}

/// Folders that nobody else has.
enum TemporaryFolder {
  /// Makes one, for its owner only. Whoever makes it removes it.
  static func make(in directory: String, named name: String = "netspool") throws(IOFailure) -> String {
    var template = Array("\(directory)/\(name)-XXXXXX".utf8CString)
    guard unsafe mkdtemp(&template) != nil else { throw .last("make a folder in", directory) }
    return String(decoding: template.dropLast().map(UInt8.init(bitPattern:)), as: UTF8.self)
  }
}
