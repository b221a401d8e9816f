import Glibc

/// Folders that nobody else has.
enum TemporaryFolder {
  /// Makes one, for its owner only. Whoever makes it removes it.
  static func make(in directory: String, named name: String = "netspool") throws(IOFailure) -> String {
    var template = Array("\(directory)/\(name)-XXXXXX".utf8CString)
    guard unsafe mkdtemp(&template) != nil else { throw .last("make a folder in", directory) }
    return String(decoding: template.dropLast().map(UInt8.init(bitPattern:)), as: UTF8.self)
  }
}
