#if Images
import Glibc
import NetSpool
import NetSpoolImages

/// What the tool and the processes that decode for it say to each other, over a socket: one question, one answer, in turn.
/// Numbers are little-endian, as everything here is one machine's.
///
/// Question: bytes of the picture (8), `pixelsMax` (8), milliseconds (8), `maxSide` (4), quality (4), format (4), fit (4),
/// and the picture. Answer: 0 or the number of a rejection, counted from 1 (4), width (4), height (4), nothing (4), bytes
/// of the thumbnail (8), and the thumbnail.
enum PictureWire {
  static let questionBytes = 40
  static let answerBytes = 24
  /// Of a picture or a thumbnail: a socket that says more is mistaken.
  static let bodyBytesMax = 1 << 30

  static func question(_ count: Int, _ transform: ThumbnailTransform, _ limits: ThumbnailLimits) -> [UInt8] {
    let milliseconds = Int(limits.timeMax / .milliseconds(1))
    let format = ThumbnailTransform.Format.allCases.firstIndex(of: transform.format) ?? 0
    let fit = ThumbnailTransform.Fit.allCases.firstIndex(of: transform.fit) ?? 0
    return number(count, 8) + number(limits.pixelsMax, 8) + number(milliseconds, 8)
      + number(transform.maxSide, 4) + number(transform.quality, 4) + number(format, 4) + number(fit, 4)
  }

  /// Nil for what no tool of this version asks.
  static func question(_ bytes: [UInt8]) -> (count: Int, ThumbnailTransform, ThumbnailLimits)? {
    let (format, fit) = (number(bytes, 32, 4), number(bytes, 36, 4))
    let count = number(bytes, 0, 8)
    guard ThumbnailTransform.Format.allCases.indices.contains(format),
      ThumbnailTransform.Fit.allCases.indices.contains(fit), (0...bodyBytesMax).contains(count)
    else { return nil }
    let transform = ThumbnailTransform(
      maxSide: number(bytes, 24, 4), format: ThumbnailTransform.Format.allCases[format],
      fit: ThumbnailTransform.Fit.allCases[fit], quality: number(bytes, 28, 4))
    var limits = ThumbnailLimits()
    limits.pixelsMax = number(bytes, 8, 8)
    limits.timeMax = .milliseconds(number(bytes, 16, 8))
    return (count, transform, limits)
  }

  static func answer(_ picture: Picture) -> [UInt8] {
    number(0, 4) + number(picture.width, 4) + number(picture.height, 4) + number(0, 4)
      + number(picture.bytes.count, 8)
  }

  static func answer(_ rejection: PictureRejection) -> [UInt8] {
    let index = PictureRejection.allCases.firstIndex(of: rejection) ?? 0
    return number(index + 1, 4) + [UInt8](repeating: 0, count: 20)
  }

  /// Throws what the answer says; nil for what is none.
  static func answer(_ bytes: [UInt8]) throws(PictureRejection) -> (width: Int, height: Int, count: Int)? {
    let code = number(bytes, 0, 4)
    if PictureRejection.allCases.indices.contains(code - 1) { throw PictureRejection.allCases[code - 1] }
    let count = number(bytes, 16, 8)
    guard code == 0, (1...bodyBytesMax).contains(count) else { return nil }
    return (number(bytes, 4, 4), number(bytes, 8, 4), count)
  }

  private static func number(_ value: Int, _ width: Int) -> [UInt8] {
    (0..<width).map { UInt8(truncatingIfNeeded: value >> ($0 * 8)) }
  }

  private static func number(_ bytes: [UInt8], _ offset: Int, _ width: Int) -> Int {
    (0..<width).reversed().reduce(0) { $0 << 8 | Int(bytes[offset + $1]) }
  }
}
#endif
