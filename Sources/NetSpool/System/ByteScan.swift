/// Searches in borrowed bytes, eight at a time: header lines are read for every response.
///
/// The eight-byte loads are bounds-checked; they are spelled `unsafe` only because the standard
/// library's generic load would also make values of types that not every bit pattern fits.
extension Span where Element == UInt8 {
  /// Eight bytes from `offset`, the first one lowest.
  @inline(__always)
  func word(at offset: Int) -> UInt64 {
    UInt64(littleEndian: unsafe bytes.unsafeLoadUnaligned(fromByteOffset: offset, as: UInt64.self))
  }

  /// The first position of `byte` at or after `start`.
  func firstIndex(of byte: UInt8, from start: Int = 0) -> Int? {
    let pattern = UInt64(byte) &* 0x0101_0101_0101_0101
    var index = start
    while index + 8 <= count {
      let zeroes = (word(at: index) ^ pattern).zeroByteMarks
      if zeroes != 0 { return index + zeroes.trailingZeroBitCount / 8 }
      index += 8
    }
    while index < count {
      if self[index] == byte { return index }
      index += 1
    }
    return nil
  }

  /// The first bytes are those of `other`.
  func begins(with other: Span<UInt8>) -> Bool {
    guard other.count <= count else { return false }
    var index = 0
    while index + 8 <= other.count {
      if word(at: index) != other.word(at: index) { return false }
      index += 8
    }
    while index < other.count {
      if self[index] != other[index] { return false }
      index += 1
    }
    return true
  }

  /// How often `byte` occurs. Sixteen lanes count for themselves, and are added up before one can overflow.
  func count(of byte: UInt8) -> Int {
    let pattern = SIMD16<UInt8>(repeating: byte)
    var (index, found) = (0, 0)
    while index + 16 <= count {
      let end = Swift.min(count - 15, index + 16 * 255)
      var lanes = SIMD16<UInt8>()
      while index < end {
        let chunk = unsafe bytes.unsafeLoadUnaligned(fromByteOffset: index, as: SIMD16<UInt8>.self)
        lanes.replace(with: lanes &+ 1, where: chunk .== pattern)
        index += 16
      }
      for lane in lanes.indices { found += Int(lanes[lane]) }
    }
    while index < count {
      if self[index] == byte { found += 1 }
      index += 1
    }
    return found
  }

  /// Where the token that begins the span ends (RFC 9110 section 5.6.2), `end` at the latest.
  @inline(__always)
  func tokenEnd(before end: Int) -> Int {
    var index = 0
    // Nearly every byte of nearly every name is a letter or a hyphen.
    while index + 8 <= end {
      let others = ~word(at: index).letterOrHyphenMarks & 0x8080_8080_8080_8080
      if others != 0 {
        index += others.trailingZeroBitCount / 8
        break
      }
      index += 8
    }
    while index < end, self[index].isTokenByte { index += 1 }
    return index
  }

  /// The first NUL, CR or LF in `range`: the bytes no field value may hold (RFC 9110 section 5.5).
  @inline(__always)
  func firstForbidden(in range: Range<Int>) -> UInt8? {
    var index = range.lowerBound
    while index + 8 <= range.upperBound {
      if word(at: index).holdsByteBelowSpace { return firstForbiddenByte(in: index..<range.upperBound) }
      index += 8
    }
    // The rest in one more word, if there are eight bytes to end it with.
    if index < range.upperBound, range.upperBound >= 8, !word(at: range.upperBound - 8).holdsByteBelowSpace {
      return nil
    }
    return firstForbiddenByte(in: index..<range.upperBound)
  }

  private func firstForbiddenByte(in range: Range<Int>) -> UInt8? {
    for index in range {
      let byte = self[index]
      if byte == 0x0D || byte == 0 || byte == 0x0A { return byte }
    }
    return nil
  }

  /// `range` without spaces and tabs at both ends (`OWS`, RFC 9110 section 5.6.3).
  func trimmed(_ range: Range<Int>) -> Range<Int> {
    var low = range.lowerBound
    var high = range.upperBound
    while low < high, self[low].isBlank { low += 1 }
    while high > low, self[high - 1].isBlank { high -= 1 }
    return low..<high
  }

  /// The number that the digits in `range` make; nil for anything else, and for more than 18 of them.
  func decimal(in range: Range<Int>) -> Int64? {
    guard (1...18).contains(range.count) else { return nil }
    var value: Int64 = 0
    for index in range {
      guard self[index].isASCIIDigit else { return nil }
      value = value * 10 + Int64(self[index] - 0x30)
    }
    return value
  }

  /// The bytes at `start` are those of `other`, whatever the case of either.
  func equals(_ other: Span<UInt8>, at start: Int) -> Bool {
    for index in 0..<other.count where self[start + index].asciiLowercased != other[index].asciiLowercased {
      return false
    }
    return true
  }

  /// The bytes in `range` are `lowercased`, whatever their case.
  func equals(_ lowercased: StaticString, in range: Range<Int>) -> Bool {
    guard lowercased.utf8CodeUnitCount == range.count else { return false }
    return lowercased.withUTF8Buffer { other in
      var index = 0
      while index + 8 <= other.count {
        let wanted = unsafe UnsafeRawBufferPointer(other).loadUnaligned(
          fromByteOffset: index, as: UInt64.self)
        guard word(at: range.lowerBound + index).equals(lowercased: UInt64(littleEndian: wanted)) else {
          return false
        }
        index += 8
      }
      while index < other.count {
        if self[range.lowerBound + index].asciiLowercased != (unsafe other[index]) { return false }
        index += 1
      }
      return true
    }
  }

  /// `range` begins with `lowercased`, whatever its case.
  @inline(__always)
  func begins(with lowercased: StaticString, in range: Range<Int>) -> Bool {
    let end = range.lowerBound + lowercased.utf8CodeUnitCount
    return end <= range.upperBound && equals(lowercased, in: range.lowerBound..<end)
  }
}

extension UInt64 {
  /// The top bit of each byte that is zero; the lowest mark is exact, higher ones may be false.
  @inline(__always)
  fileprivate var zeroByteMarks: UInt64 { (self &- 0x0101_0101_0101_0101) & ~self & 0x8080_8080_8080_8080 }

  /// The top bit of each byte that is an ASCII letter or `-`. No byte carries into the next: bit 7 is left out of the sums.
  @inline(__always)
  fileprivate var letterOrHyphenMarks: UInt64 {
    let apart = self ^ 0x2D2D_2D2D_2D2D_2D2D
    let hyphens = ~((apart & 0x7F7F_7F7F_7F7F_7F7F) &+ 0x7F7F_7F7F_7F7F_7F7F | apart)
    return (letterMarks | hyphens) & 0x8080_8080_8080_8080
  }

  /// The top bit of each byte that is an ASCII letter.
  @inline(__always)
  fileprivate var letterMarks: UInt64 {
    let low = (self | 0x2020_2020_2020_2020) & 0x7F7F_7F7F_7F7F_7F7F
    let letters = (low &+ 0x1F1F_1F1F_1F1F_1F1F) & ~(low &+ 0x0505_0505_0505_0505)
    return letters & ~self & 0x8080_8080_8080_8080
  }

  /// The eight bytes are those of `lowercased`, whatever their case: they differ in the bit of the case of letters at most.
  @inline(__always)
  fileprivate func equals(lowercased: UInt64) -> Bool {
    (self ^ lowercased) & ~(lowercased.letterMarks >> 2) == 0
  }

  /// Some byte is less than 0x20.
  @inline(__always)
  fileprivate var holdsByteBelowSpace: Bool {
    (self &- 0x2020_2020_2020_2020) & ~self & 0x8080_8080_8080_8080 != 0
  }
}
