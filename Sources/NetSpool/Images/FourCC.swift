/// A chunk or box type of four bytes, written as text: `"IHDR"`.
struct FourCC: Hashable, ExpressibleByStringLiteral {
  let rawValue: UInt32

  init(rawValue: UInt32) { self.rawValue = rawValue }

  init(stringLiteral text: String) {
    rawValue = text.unicodeScalars.reduce(0) { $0 << 8 | $1.value & 0xFF }
  }

  /// All four are ASCII letters, as in every chunk type of PNG.
  var isLetters: Bool {
    (0..<4).allSatisfy {
      UInt8(ascii: "a")...UInt8(ascii: "z") ~= UInt8(truncatingIfNeeded: rawValue >> ($0 * 8)) | 0x20
    }
  }
}
