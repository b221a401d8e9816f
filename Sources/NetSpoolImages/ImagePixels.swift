#if Images
public import NetSpool

/// A decoded picture: rows of pixels from the top, each pixel red, green, blue and opacity, 0 to 255, in sRGB; what is
/// transparent keeps its colour.
public struct ImagePixels: Sendable {
  /// Columns, as shown.
  public let width: Int
  /// Rows, as shown.
  public let height: Int
  /// The pixels: `stride * height` bytes.
  public let bytes: [UInt8]

  /// Bytes from one row to the next: four times the width.
  public var stride: Int { width * 4 }

  /// The four bytes of a pixel; traps outside the picture.
  public subscript(x: Int, y: Int) -> ArraySlice<UInt8> {
    precondition((0..<width).contains(x) && (0..<height).contains(y), "NetSpool: no such pixel: \(x), \(y)")
    return bytes[y * stride + x * 4..<y * stride + x * 4 + 4]
  }
}

extension NetworkImage {
  /// Decodes the picture, turned as its EXIF or HEIF says: the sides may change places. Blocks for as long as that takes:
  /// not for a delivery closure, nor for a task.
  ///
  /// - Parameters:
  ///   - maxSide: no side is longer, and no more is decoded than that needs; 16,383 by default.
  ///   - limits: `timeMax` and `pixelsMax` of the file, before it is made smaller.
  /// Throws `.imageRejected` with the reason `format`, `pixels`, `damaged`, `time` or `memory`.
  public func pixels(maxSide: Int = 16_383, limits: ThumbnailLimits = .init()) throws(NetworkError)
    -> ImagePixels
  {
    try ThumbnailTransform(maxSide: maxSide).check()
    do throws(PictureRejection) {
      let picture = try LibraryDecoder.unpack(body, maxSide: maxSide, limits)
      return ImagePixels(width: picture.width, height: picture.height, bytes: picture.bytes)
    } catch {
      throw .rejected(error.rawValue, nil)
    }
  }
}
#endif
