/// Relative file names that cannot leave the output folder or surprise a shell. Pure text, no files.
enum OutputName {
  /// The longest component in bytes, as on every Linux file system.
  static let componentBytesMax = 255
  /// What a URL without a last path component is called.
  static let fallback = "index"

  /// The name after the tab. Folders are kept, each component made safe: `/a/../-b` is `a/_/_b`.
  /// Nil when nothing is left.
  static func fromList(_ text: String) -> String? {
    let parts = text.split(separator: "/").filter { $0 != "." }.map { safe(String($0)) }
    return parts.isEmpty ? nil : parts.joined(separator: "/")
  }

  /// The last component of the URL's path, percent-decoded where that gives a plain name. The query is no
  /// part of it. A leading dot goes: a URL must not choose to be `.bashrc`.
  static func fromURL(_ url: String) -> String {
    let encoded = String(URLText.lastPathComponent(url))
    if encoded.isEmpty { return fallback }
    let name = percentDecoded(encoded) ?? encoded
    return safe(name.utf8.first == UInt8(ascii: ".") ? "_" + name.dropFirst() : name)
  }

  /// `a/b.tar.gz` with 2 is `a/b.tar-2.gz`: what opens the file still recognises it.
  static func suffixed(_ name: String, _ number: Int) -> String {
    let slash = name.utf8.lastIndex(of: UInt8(ascii: "/"))
    let folder = slash.map { name[...$0] } ?? ""
    let (stem, ending) = split(String(slash.map { name[name.utf8.index(after: $0)...] } ?? name[...]))
    let tail = "-\(number)\(ending)"
    return folder + clipped(stem, to: componentBytesMax - tail.utf8.count) + tail
  }

  /// One component without slashes, control characters, direction overrides, leading dash or excess length.
  private static func safe(_ component: String) -> String {
    if isPlain(component) { return component }
    if component == ".." { return "_" }
    var scalars = String.UnicodeScalarView(component.unicodeScalars.map { isUnsafe($0) ? "_" : $0 })
    if scalars.first == "-" {
      scalars.replaceSubrange(..<scalars.index(after: scalars.startIndex), with: ["_"])
    }
    let text = String(scalars)
    guard text.utf8.count > componentBytesMax else { return text }
    let (stem, ending) = split(text)
    return clipped(stem, to: componentBytesMax - ending.utf8.count) + ending
  }

  /// Whether the component needs no look at its Unicode: the common case, and many times faster.
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

  /// At most `bytes` long, cut between characters.
  private static func clipped(_ text: String, to bytes: Int) -> String {
    var (text, length) = (text, text.utf8.count)
    while length > bytes, let last = text.popLast() { length -= last.utf8.count }
    return text
  }

  /// Nil when the escapes are malformed or spell something that is no plain name.
  private static func percentDecoded(_ text: String) -> String? {
    guard text.utf8.contains(UInt8(ascii: "%")) else { return text }
    var (bytes, rest) = ([UInt8](), Array(text.utf8)[...])
    while let byte = rest.popFirst() {
      guard byte == UInt8(ascii: "%") else {
        bytes.append(byte)
        continue
      }
      guard let high = rest.popFirst().flatMap(hexValue), let low = rest.popFirst().flatMap(hexValue)
      else { return nil }
      bytes.append(high << 4 | low)
    }
    guard let decoded = String(validating: bytes, as: UTF8.self) else { return nil }
    return decoded.unicodeScalars.contains(where: isUnsafe) ? nil : decoded
  }

  private static func hexValue(_ byte: UInt8) -> UInt8? {
    Character(Unicode.Scalar(byte)).hexDigitValue.map(UInt8.init)
  }
}
