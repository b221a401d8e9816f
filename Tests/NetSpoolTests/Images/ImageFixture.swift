import Testing

@testable import NetSpool

/// A whole image file, and what is to be found in it.
struct ImageFixture: Sendable, CustomTestStringConvertible {
  let name: String
  let format: ImageFormat
  let width: Int
  let height: Int
  let bytes: [UInt8]

  init(_ name: String, _ format: ImageFormat, _ width: Int, _ height: Int, _ bytes: [UInt8]) {
    (self.name, self.format, self.width, self.height, self.bytes) = (name, format, width, height, bytes)
  }

  var testDescription: String { "\(format) \(name)" }

  static let all = png + jpeg + gif + webP + bmp + heif
}

/// A file of which something is not as it should be.
struct ImageSample: Sendable, CustomTestStringConvertible {
  let testDescription: String
  let bytes: [UInt8]
  init(_ name: String, _ bytes: [UInt8]) { (testDescription, self.bytes) = (name, bytes) }
}

/// What is found in the bytes, which lie in memory of exactly their size, so that a sanitiser sees every
/// read outside.
func sniff(_ bytes: some Collection<UInt8>) -> ImageInfo? {
  let exact = [UInt8](bytes)
  return ImageInfo.sniff(exact.rawBytes)
}

/// The bytes that the hexadecimal digits stand for.
func hex(_ digits: String) -> [UInt8] {
  let nibbles = digits.compactMap { $0.hexDigitValue }
  return stride(from: 0, to: nibbles.count, by: 2).map { UInt8(nibbles[$0] << 4 | nibbles[$0 + 1]) }
}

/// A number of `width` bytes, the high one first.
func big(_ value: Int, _ width: Int) -> [UInt8] {
  (0..<width).reversed().map { UInt8(truncatingIfNeeded: value >> ($0 * 8)) }
}

/// A number of `width` bytes, the low one first.
func little(_ value: Int, _ width: Int) -> [UInt8] { big(value, width).reversed() }

func ascii(_ text: String) -> [UInt8] { Array(text.utf8) }

/// One after the other. (A chain of `+` between literals keeps the compiler busy for minutes.)
func join(_ parts: [UInt8]...) -> [UInt8] { parts.flatMap { $0 } }
