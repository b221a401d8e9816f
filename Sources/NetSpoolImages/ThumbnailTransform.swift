#if Images
internal import NetSpool

/// The thumbnail that a picture becomes. Equal transforms share an entry of the cache.
public struct ThumbnailTransform: Hashable, Sendable {
  /// The longest side in pixels, 1 to 16,383: a smaller picture stays as it is. 256 by default.
  public var maxSide: Int
  /// The format that it is written in. `.webP` by default.
  public var format: Format
  /// The way it is brought to the size. `.contain` by default.
  public var fit: Fit
  /// 1 to 100, for formats that lose something; 75 by default, 50 of AVIF, which looks like it.
  public var quality: Int

  /// Each with its default; `quality` nil takes that of the format.
  public init(maxSide: Int = 256, format: Format = .webP, fit: Fit = .contain, quality: Int? = nil) {
    self.maxSide = maxSide
    self.format = format
    self.fit = fit
    self.quality = quality ?? (format == .avif ? 50 : 75)
  }

  /// The format of a thumbnail.
  public enum Format: String, Sendable, CaseIterable {
    /// WebP, lossy; keeps transparency.
    case webP = "webp"
    /// JPEG, baseline; what is transparent becomes white.
    case jpeg
    /// AVIF: the smallest, and by far the slowest to make; keeps transparency.
    case avif
    /// PNG, without loss, 8 bits for each colour; keeps transparency.
    case png

    /// The media type: `image/webp`.
    public var mimeType: String { "image/\(rawValue)" }
  }

  /// The way a picture that is not square comes to its size.
  public enum Fit: String, Sendable, CaseIterable {
    /// All of it, its shape kept: the longer side is `maxSide`.
    case contain
    /// A square of `maxSide`, cut from its middle; of a smaller picture, one of its shorter side.
    case cover
  }

  /// The longest side that WebP has.
  static let sides = 1...16_383

  func check() throws(NetworkError) {
    guard Self.sides.contains(maxSide) else {
      throw NetworkError(code: .invalidConfiguration, reason: "maxSide")
    }
    guard (1...100).contains(quality) else {
      throw NetworkError(code: .invalidConfiguration, reason: "quality")
    }
  }

  /// Names it among what is made of one answer. The number counts up when the same words come to mean something else.
  var name: String { "thumbnail 2 \(maxSide) \(format.rawValue) \(fit.rawValue) \(quality)" }
}

/// The limits of a picture. A picture beyond them is refused, `.imageRejected`.
public struct ThumbnailLimits: Hashable, Sendable {
  /// Columns times rows, by what the file says of itself, before anything is decoded; 64 million by default.
  public var pixelsMax = 64_000_000
  /// The time that a picture may take; 10 s by default. Looked at every few rows: what is decoded in one
  /// piece (AVIF, HEIF, progressive JPEG, pictures that EXIF turns) is held up by `pixelsMax` alone.
  public var timeMax = Duration.seconds(10)

  /// All defaults.
  public init() {}
}
#endif
