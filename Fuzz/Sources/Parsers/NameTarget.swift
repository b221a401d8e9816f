@testable import NetSpool

/// File names that a stranger chose: in Content-Disposition, and at the end of a URL.
enum NameTarget {
  static func run(_ bytes: [UInt8]) {
    if let name = ContentDisposition.fileName(bytes[...]) { check(FileName.sanitised(name)) }
    let text = String(decoding: bytes, as: UTF8.self)
    check(FileName.sanitised(text))
    check(FileName.fromURLPath(text))
  }

  private static func check(_ name: String) {
    require(
      (1...FileName.bytesMax).contains(name.utf8.count), "a name fits into a folder: \(name.utf8.count)")
    require(!name.utf8.contains { $0 == 0x2F || $0 == 0x5C || $0.isControl }, "it is one name")
    require(!".-~".utf8.contains(name.utf8.first ?? 0x2E), "it is no option and not hidden")
    require(name.utf8.last != 0x2E && name.utf8.last != 0x20, "nothing is at its end that others drop")
    require(name.unicodeScalars.allSatisfy(isShown), "every character can be seen")
    require(FileName.sanitised(name) == name, "what is clean stays: \(name)")
  }

  private static func isShown(_ scalar: Unicode.Scalar) -> Bool {
    switch scalar.value {
    case 0..<0x20, 0x7F..<0xA0, 0x200B, 0x200E, 0x200F, 0x2028...0x202E, 0x2060...0x206F, 0xFEFF: false
    default: true
    }
  }
}
