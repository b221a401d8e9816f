extension NetworkImage {
  /// A file format. Open: a later version may know more, so a `switch` needs a default.
  public struct Format: Hashable, Sendable, CustomStringConvertible {
    let kind: ImageFormat
    init(kind: ImageFormat) { self.kind = kind }

    /// Portable Network Graphics, animated or not ([W3C PNG](https://www.w3.org/TR/png-3/)).
    public static let png = Self(kind: .png)
    /// JPEG (ITU-T T.81): baseline, progressive, lossless.
    public static let jpeg = Self(kind: .jpeg)
    /// GIF 87a and 89a, animated or not ([W3C GIF](https://www.w3.org/Graphics/GIF/spec-gif89a.txt)).
    public static let gif = Self(kind: .gif)
    /// WebP: lossy, lossless, animated ([RFC 9649](https://www.rfc-editor.org/rfc/rfc9649)).
    public static let webP = Self(kind: .webP)
    /// AV1 Image File Format, image or sequence ([AVIF](https://aomediacodec.github.io/av1-avif/)).
    public static let avif = Self(kind: .avif)
    /// High Efficiency Image File Format (ISO/IEC 23008-12), HEIC included.
    public static let heif = Self(kind: .heif)
    /// Windows and OS/2 bitmap ([RFC 7903](https://www.rfc-editor.org/rfc/rfc7903)).
    public static let bmp = Self(kind: .bmp)

    /// The registered media type: `image/png`, `image/jpeg`, `image/gif`, `image/webp`, `image/avif`,
    /// `image/heif`, `image/bmp`. Not what the server said.
    public var mimeType: String { kind.mimeType }
    /// The media type.
    public var description: String { mimeType }
  }
}
