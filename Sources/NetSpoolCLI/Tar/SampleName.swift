/// The name of one item's members in a tar, as WebDataset has it: a key, which is all up to the first dot of the last
/// component, and an ending. All members of an item have one key and stand side by side.
struct SampleName: Equatable {
  let key: String
  /// The longest last component of a key that leaves room for a number of `OutputName.suffixed` and for `.info.json`: a name
  /// with a longer one could not be taken out of the tar.
  static let keyBytesMax = OutputName.componentBytesMax - "-4294967295.info.json".utf8.count
  /// Without its dot; empty when the name has none.
  let ending: String

  init(_ name: String) {
    let (folder, file) = OutputName.parts(name)
    let dot = file.utf8.firstIndex(of: UInt8(ascii: "."))
    // Readers pass over what begins with a dot.
    key = folder + (dot == file.startIndex ? "_" : String(file[..<(dot ?? file.endIndex)]))
    ending = dot.map { String(file[file.utf8.index(after: $0)...]) } ?? ""
  }

  /// A name that is to become a member's: of its dots only that before the ending stays, as readers begin a field at each.
  init(wanted name: String) {
    let (folder, file) = OutputName.parts(name)
    let dot = file.lastIndex(of: ".")
    let last = dot.map { file[file.index(after: $0)...] } ?? ""
    // `v1.2` has none.
    let isEnding =
      last.utf8.count <= 8 && last.utf8.allSatisfy { $0 &- 0x30 < 10 || ($0 | 0x20) &- 0x61 < 26 }
      && last.contains(where: \.isLetter)
    let stem = isEnding ? file[..<(dot ?? file.endIndex)] : file[...]
    key = folder + (stem.isEmpty ? "_" : String(stem.map { $0 == "." ? "_" : $0 }))
    ending = isEnding ? String(last) : ""
  }

  /// The name of the body: with an ending by its type where it has none, as readers go by endings.
  func body(_ contentType: String?) -> String {
    "\(key).\(ending.isEmpty ? Self.ending(of: contentType) : ending)"
  }

  /// The name of what is known of the item.
  func info(besides body: String) -> String {
    body.lowercased() == "\(key).json".lowercased() ? "\(key).info.json" : "\(key).json"
  }

  /// True if a member of this name can be what is known of an item.
  static func isInfo(_ name: String) -> Bool {
    let ending = SampleName(name).ending
    return ending == "json" || ending == "info.json"
  }

  private static func ending(of contentType: String?) -> String {
    let type = (contentType ?? "").prefix { $0 != ";" && $0 != " " }.lowercased()
    return endings[type] ?? "bin"
  }

  private static let endings = [
    "application/gzip": "gz", "application/json": "json", "application/pdf": "pdf", "application/xml": "xml",
    "application/zip": "zip", "audio/mpeg": "mp3", "image/avif": "avif", "image/bmp": "bmp",
    "image/gif": "gif", "image/heic": "heic", "image/heif": "heif", "image/jpeg": "jpg", "image/png": "png",
    "image/svg+xml": "svg", "image/webp": "webp", "text/css": "css", "text/csv": "csv", "text/html": "html",
    "text/javascript": "js", "text/plain": "txt", "text/xml": "xml", "video/mp4": "mp4", "video/webm": "webm",
  ]
}
