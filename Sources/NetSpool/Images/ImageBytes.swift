/// Borrowed bytes of a file, read with every offset checked: what lies outside is nil, never a trap.
///
/// Offsets come from the file and may be anything. Widths of numbers are in bytes, 0 to 8; a number of no
/// bytes is 0.
struct ImageBytes: ~Escapable {
  private let bytes: Span<UInt8>

  @_lifetime(copy raw)
  init(_ raw: RawSpan) { bytes = Span<UInt8>(_bytes: raw) }

  var count: Int { bytes.count }

  func byte(_ offset: Int) -> UInt8? { bytes.indices.contains(offset) ? bytes[offset] : nil }

  /// A number with its high byte first; nil also when it is over `Int.max`.
  func big(_ offset: Int, width: Int) -> Int? {
    guard has(width, at: offset) else { return nil }
    var value: UInt64 = 0
    for index in offset..<offset + width { value = value << 8 | UInt64(bytes[index]) }
    return Int(exactly: value)
  }

  /// A number with its low byte first; nil also when it is over `Int.max`.
  func little(_ offset: Int, width: Int) -> Int? {
    guard has(width, at: offset) else { return nil }
    var value: UInt64 = 0
    for index in (offset..<offset + width).reversed() { value = value << 8 | UInt64(bytes[index]) }
    return Int(exactly: value)
  }

  /// A little-endian number in two's complement.
  func littleSigned32(_ offset: Int) -> Int? {
    little(offset, width: 4).map { Int(Int32(truncatingIfNeeded: $0)) }
  }

  func code(_ offset: Int) -> FourCC? {
    big(offset, width: 4).map { FourCC(rawValue: UInt32(truncatingIfNeeded: $0)) }
  }

  /// Finds the byte at `start` or behind it.
  func firstIndex(of byte: UInt8, from start: Int) -> Int? { bytes.firstIndex(of: byte, from: start) }

  private func has(_ width: Int, at offset: Int) -> Bool {
    0...8 ~= width && offset >= 0 && offset <= bytes.count - width
  }
}

/// A box of an ISO base media file (ISO/IEC 14496-12 section 4.2): size (4 bytes, big-endian, header
/// included), type (4). A size of 1 means that the true one follows in 8 bytes, of 0 that the box takes all
/// that is left.
struct ISOBox {
  let type: FourCC
  /// What lies behind the header, as far as it is there.
  let content: Range<Int>
  /// The box ends where its size says, within its surroundings.
  let isWhole: Bool

  /// Nil without a readable header at `offset`.
  init?(_ bytes: ImageBytes, at offset: Int, limit: Int) {
    guard let short = bytes.big(offset, width: 4), let type = bytes.code(offset + 4) else { return nil }
    self.type = type
    if short == 1, limit - offset < 16, limit - offset >= 8 {
      (isWhole, content) = (false, limit..<limit)  // cut within its header
      return
    }
    let header = short == 1 ? 16 : 8
    let size = short == 1 ? bytes.big(offset + 8, width: 8) : short == 0 ? limit - offset : short
    guard let size, size >= header, offset + header <= limit else { return nil }
    isWhole = size <= limit - offset
    content = offset + header..<(isWhole ? offset + size : limit)
  }

  /// The first whole box of a type among those that fill a range.
  static func first(_ type: FourCC, in range: Range<Int>, _ bytes: ImageBytes) -> ISOBox? {
    var offset = range.lowerBound
    while let box = ISOBox(bytes, at: offset, limit: range.upperBound), box.isWhole {
      if box.type == type { return box }
      offset = box.content.upperBound
    }
    return nil
  }

  /// Version and flags of a full box, whose content begins with them, and where the rest begins.
  func full(_ bytes: ImageBytes) -> (version: UInt8, flags: Int, body: Range<Int>)? {
    guard content.count >= 4, let version = bytes.byte(content.lowerBound),
      let flags = bytes.big(content.lowerBound + 1, width: 3)
    else { return nil }
    return (version, flags, content.lowerBound + 4..<content.upperBound)
  }
}

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
