import Glibc

/// Relative file names that cannot leave the output folder or surprise a shell. Pure text, no files.
enum OutputName {
  /// The longest component in bytes, as on every Linux file system.
  static let componentBytesMax = 255
  /// What a URL without a last path component is called.
  static let fallback = "index"

  /// The name after the tab, each component made safe: `/a/../-b` is `a/_/_b`. Nil when nothing is left.
  static func fromList(_ text: String) -> String? {
    let parts = text.utf8.split(separator: UInt8(ascii: "/")).filter { !$0.elementsEqual(".".utf8) }.map {
      safe(String(Substring($0)))
    }
    return parts.isEmpty ? nil : parts.joined(separator: "/")
  }

  /// The last component of the URL's path, percent-decoded where that gives a plain name. The query is no
  /// part of it. A leading dot goes: a URL must not choose to be `.bashrc`.
  static func fromURL(_ url: String) -> String {
    let encoded = String(URLText.lastPathComponent(url))
    if encoded.isEmpty { return fallback }
    let name = percentDecoded(encoded) ?? encoded
    return safe(visible(name))
  }

  /// The name with `_` in place of a leading dot.
  static func visible(_ name: String) -> String {
    name.utf8.first == UInt8(ascii: ".") ? "_" + name.dropFirst() : name
  }

  /// The last component of the URL's path as it stands, as curl's -O has it; nil when there is none.
  static func remote(_ url: String) -> String? {
    let name = String(URLText.lastPathComponent(url))
    return name.isEmpty || name == "." || name == ".." ? nil : safe(name)
  }

  /// `a/b.tar.gz` with 2 is `a/b.tar-2.gz`: what opens the file still recognises it.
  static func suffixed(_ name: String, _ number: Int) -> String {
    let (folder, file) = parts(name)
    let (stem, ending) = split(file)
    let tail = "-\(number)\(ending)"
    return folder + clipped(stem, to: componentBytesMax - tail.utf8.count) + tail
  }

  /// The number that `suffixed` has put behind a name without an ending; 0 where there is none.
  static func number(of name: String) -> UInt32 {
    name.utf8.lastIndex(of: UInt8(ascii: "-")).flatMap { UInt32(name[$0...].dropFirst()) } ?? 0
  }

  /// `a/b.jpg` with `webp` is `a/b.webp`, and so is `a/b`: what is no ending of a picture stays.
  static func picture(_ name: String, ending: String) -> String {
    let (folder, file) = parts(name)
    let parts = split(file)
    let stem = pictureEndings.contains(parts.ending.lowercased()) ? parts.stem : file
    return folder + clipped(stem, to: componentBytesMax - ending.utf8.count - 1) + "." + ending
  }

  static func parts(_ name: String) -> (folder: String, file: String) {
    let start = name.utf8.lastIndex(of: UInt8(ascii: "/")).map(name.utf8.index(after:)) ?? name.startIndex
    return (String(name[..<start]), String(name[start...]))
  }

  private static let pictureEndings: Set = [
    ".avif", ".bmp", ".gif", ".heic", ".heif", ".jpe", ".jpeg", ".jpg", ".png", ".webp",
  ]

  /// A component without slashes, control characters, direction overrides, leading dash or excess length.
  /// `.netspool-` in it becomes `_netspool-`, as the parts of other lines' files have names with it.
  private static func safe(_ component: String) -> String {
    if isPlain(component) { return notOurs(component) }
    if component.utf8.elementsEqual("..".utf8) { return "_" }
    var scalars = String.UnicodeScalarView(component.unicodeScalars.map { isUnsafe($0) ? "_" : $0 })
    if scalars.first == "-" {
      scalars.replaceSubrange(..<scalars.index(after: scalars.startIndex), with: ["_"])
    }
    let text = notOurs(String(scalars))
    guard text.utf8.count > componentBytesMax else { return text }
    let (stem, ending) = split(text)
    return clipped(stem, to: componentBytesMax - ending.utf8.count) + ending
  }

  private static func notOurs(_ name: String) -> String {
    let mark = "netspool-".utf8
    let pairs = zip(name.utf8, name.utf8.dropFirst())
    guard pairs.contains(where: { $0 == UInt8(ascii: ".") && $1 | 0x20 == mark.first }) else { return name }
    var bytes = Array(name.utf8)
    for index in bytes.indices where bytes[index] == UInt8(ascii: ".") {
      let tail = bytes[(index + 1)...].prefix(mark.count)
      if tail.elementsEqual(mark, by: { $0 | 0x20 == $1 | 0x20 }) { bytes[index] = UInt8(ascii: "_") }
    }
    return String(decoding: bytes, as: UTF8.self)
  }

  /// True if the component needs no look at its Unicode: the common case, and many times faster.
  private static func isPlain(_ component: String) -> Bool {
    let bytes = component.utf8
    return bytes.count <= componentBytesMax && bytes.first != UInt8(ascii: "-") && component != ".."
      && bytes.allSatisfy { $0 > 0x20 && $0 < 0x7F && $0 != UInt8(ascii: "/") }
  }

  private static func isUnsafe(_ scalar: Unicode.Scalar) -> Bool {
    scalar == "/" || HumanText.isHarmful(scalar)
  }

  /// Splits off a short ending: `photo.jpeg` is `photo` and `.jpeg`, `.profile` has none.
  private static func split(_ name: String) -> (stem: String, ending: String) {
    guard let dot = name.utf8.lastIndex(of: UInt8(ascii: ".")), dot != name.startIndex,
      name[dot...].utf8.count <= 16
    else { return (name, "") }
    return (String(name[..<dot]), String(name[dot...]))
  }

  /// The name with so many bytes at most of its last component.
  static func cut(_ name: String, to bytes: Int) -> String {
    let (folder, file) = parts(name)
    return file.utf8.count > bytes ? folder + clipped(file, to: bytes) : name
  }

  /// At most `bytes` long, cut between Unicode scalars: a character may be longer than a name.
  private static func clipped(_ text: String, to bytes: Int) -> String {
    var (result, room) = (String.UnicodeScalarView(), bytes)
    for scalar in text.unicodeScalars {
      room -= UTF8.width(scalar)
      guard room >= 0 else { break }
      result.append(scalar)
    }
    return String(result)
  }

  /// Nil when the escapes are malformed or spell something that is no plain name.
  static func percentDecoded(_ text: String) -> String? {
    guard text.utf8.contains(UInt8(ascii: "%")) else { return text }
    guard let bytes = percentDecoded(Array(text.utf8)[...]),
      let decoded = String(validating: bytes, as: UTF8.self)
    else { return nil }
    return decoded.unicodeScalars.contains(where: isUnsafe) ? nil : decoded
  }

  /// Nil when the escapes are malformed.
  static func percentDecoded(_ text: ArraySlice<UInt8>) -> [UInt8]? {
    var (bytes, rest) = ([UInt8](), text)
    while let byte = rest.popFirst() {
      guard byte == UInt8(ascii: "%") else {
        bytes.append(byte)
        continue
      }
      guard let high = rest.popFirst().flatMap(hexValue), let low = rest.popFirst().flatMap(hexValue) else {
        return nil
      }
      bytes.append(high << 4 | low)
    }
    return bytes
  }

  private static func hexValue(_ byte: UInt8) -> UInt8? {
    Character(Unicode.Scalar(byte)).hexDigitValue.map(UInt8.init)
  }
}

/// Gives every line of the list a file name of its own, by the list's order and nothing else: so a second run, a resumed
/// run and every shard give the same. What the folder already holds is overwritten, which makes a second run idempotent.
final class OutputNames {
  /// What the ledger has for a name of an earlier run that is a file in the folder; a key in a tar is none.
  static let heldAsFile: UInt32 = 1

  private let ledger: Ledger
  /// True if the name is that of a file which the job itself reads or writes: the list, the results.
  private let isProtected: (String) -> Bool
  private var hasFolders = false
  private var lastFolder: (wanted: String, got: String) = ("", "")

  init(ledger: Ledger, isProtected: @escaping (String) -> Bool = { _ in false }) {
    self.ledger = ledger
    self.isProtected = isProtected
  }

  /// Takes `wanted`, or the first of `wanted-1`, `wanted-2`, ... that no earlier line has.
  /// - Parameter url: whose key in a tar, or whose file, it may have been before.
  func claim(_ wanted: String, for url: String = "") throws(IOFailure) -> String {
    let name = try inFreeFolder(wanted)
    if let before = try nameBefore(name, url), try take(before, for: url) { return before }
    if try take(name, for: url) { return name }
    // A taken name keeps the suffix given out last: a million lines called `index` cost one look-up each.
    var suffix = try ledger.value(Fingerprint(.suffix, name)) ?? 0
    while true {
      suffix += 1
      let candidate = OutputName.suffixed(name, Int(suffix))
      guard try take(candidate, for: url) else { continue }
      try ledger.set(Fingerprint(.suffix, name), suffix)
      return candidate
    }
  }

  /// The name with the number that a tar has it under for this URL, wherever its line stood then.
  private func nameBefore(_ name: String, _ url: String) throws(IOFailure) -> String? {
    guard let number = try ledger.value(Fingerprint(.key, url)), number > 0 else { return nil }
    let before = OutputName.suffixed(name, Int(number))
    return try ledger.value(Fingerprint(.done, url, before)) == nil ? nil : before
  }

  private func take(_ name: String, for url: String) throws(IOFailure) -> Bool {
    if isProtected(name) { return false }
    if try ledger.value(Fingerprint(.held, name)) != nil,
      try ledger.value(Fingerprint(.done, url, name)) == nil
    {
      return false
    }
    if hasFolders, try ledger.value(Fingerprint(.directory, name)) != nil { return false }
    return try ledger.insert(Fingerprint(.file, name)) == nil
  }

  /// The name with its folders renamed where an earlier line has a file of that name.
  private func inFreeFolder(_ name: String) throws(IOFailure) -> String {
    guard let slash = name.utf8.lastIndex(of: UInt8(ascii: "/")) else { return name }
    let wanted = String(name[..<slash])
    if wanted != lastFolder.wanted { lastFolder = (wanted, try freeFolder(wanted)) }
    return lastFolder.got + name[slash...]
  }

  private func freeFolder(_ wanted: String) throws(IOFailure) -> String {
    hasFolders = true
    var path = ""
    for component in wanted.split(separator: "/") {
      let full = path.isEmpty ? String(component) : "\(path)/\(component)"
      var suffix = 0
      path = full
      while try isFile(path) {
        suffix += 1
        path = OutputName.suffixed(full, suffix)
      }
      try ledger.insert(Fingerprint(.directory, path))
    }
    return path
  }

  /// True if an earlier line, an earlier run or the job itself has a file of that name.
  private func isFile(_ path: String) throws(IOFailure) -> Bool {
    if isProtected(path) { return true }
    if try ledger.value(Fingerprint(.file, path)) != nil { return true }
    return try ledger.value(Fingerprint(.held, path)) == Self.heldAsFile
  }
}

final class OutputFolder {
  let path: String
  private let directory: Descriptor
  private var lastParent = ""

  /// Makes the folder, and those above it, where they are missing. Fails early when it cannot be written to.
  /// - Parameter isReadOnly: true for one that is there, and is only looked at.
  init(path: String, isReadOnly: Bool = false) throws(IOFailure) {
    self.path = path.hasSuffix("/") ? path : path + "/"
    if !isReadOnly { try Self.make(path) }
    directory = try Descriptor(opening: path, O_RDONLY | O_DIRECTORY)
    let mode = isReadOnly ? R_OK : W_OK | X_OK
    guard unsafe access(path, mode) == 0 else { throw .last("write to the folder", path) }
  }

  /// The length of the file of this name; nil if there is none.
  func bytes(of name: String) -> Int64? {
    var raw = stat()
    guard unsafe fstatat(directory.number, name, &raw, 0) == 0 else { return nil }
    return Int64(raw.st_size)
  }

  /// The path to write `name` to, after the folders in it were made.
  func makePath(for name: String) throws(IOFailure) -> String {
    if let slash = name.utf8.lastIndex(of: UInt8(ascii: "/")) {
      let parent = String(name[..<slash])
      if parent != lastParent { try makeInside(parent) }
      lastParent = parent
    }
    return path + name
  }

  /// Makes folders in the folder. A name comes from a list, and must not lead out of it by a symbolic link.
  private func makeInside(_ relative: String) throws(IOFailure) {
    var made = path
    for component in relative.split(separator: "/") {
      made += component
      if unsafe mkdir(made, 0o777) != 0 {
        guard errno == EEXIST else { throw .last("make the folder", made) }
        guard !FileFacts.isLink(made) else {
          throw IOFailure(action: "follow the link", path: made, code: ELOOP)
        }
      }
      made += "/"
    }
  }

  static func make(_ path: String) throws(IOFailure) {
    var made = path.hasPrefix("/") ? "/" : ""
    for component in path.split(separator: "/") {
      made += component + "/"
      guard unsafe mkdir(made, 0o777) == 0 || errno == EEXIST else { throw .last("make the folder", made) }
    }
  }
}
