/// The bytes of an image file, with what its headers tell.
///
/// Nothing is decoded: a file may be complete and still hold damaged pixels, and a small file may unfold into
/// billions of pixels. Look at `decodedPixels` before decoding.
public struct NetworkImage: Sendable {
  /// The file, byte for byte; not copied from the response.
  public let body: ResponseBytes
  private let info: ImageInfo
  /// The URL it came from, redirects followed; nil when it is from no response.
  public internal(set) var finalURL: String?
  /// The operation that `image(at:tag:)` has made for it, `NetworkOperation.id`; nil when it is from elsewhere.
  public internal(set) var operationID: UInt64?

  /// Nil when the bytes are no image of a known format. A cut-off file gives an image that is not complete as
  /// soon as its size can be read. Takes time linear in the size of the file at most; any thread.
  package init?(_ body: ResponseBytes) {
    guard let info = ImageInfo.sniff(body.bytes) else { return nil }
    self.body = body
    self.info = info
  }

  /// The format, found by the first bytes and never by `Content-Type`, which servers get wrong.
  public var format: Format { Format(kind: info.format) }
  /// Columns of pixels: 1 to 2,147,483,647. What HEIF's `clap` crops away does not count. An orientation given by EXIF or
  /// by HEIF's `irot` is not applied, so for a photo taken upright this may be the longer side. Of GIF and animated WebP,
  /// the canvas.
  public var pixelWidth: Int { info.shownSize.width }
  /// Rows of pixels: 1 to 2,147,483,647, counted like `pixelWidth`.
  public var pixelHeight: Int { info.shownSize.height }
  /// The number of pixels that a decoder unfolds, those included that are cropped away afterwards.
  public var decodedPixels: Int { info.pixelSize.width * info.pixelSize.height }
  /// The file reaches the end that its own structure gives it: no byte is missing. What follows that end is
  /// ignored. Checksums are not verified.
  public var isComplete: Bool { info.isComplete }

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

  /// Why the bytes of a file are no whole image, `notAnImage` or `imageTruncated`; nil when they are one. Nothing
  /// is kept of them. Any thread; linear in their number at most.
  package static func defect(of bytes: RawSpan) -> String? {
    guard let info = ImageInfo.sniff(bytes) else { return "notAnImage" }
    return info.isComplete ? nil : "imageTruncated"
  }
}

/// Pictures: fetched, looked at, and kept when there is a cache.
extension NetworkEngine {
  /// Fetches a picture and enqueues at once. The bytes decide what it is, whatever `Content-Type` says.
  ///
  /// - Parameters:
  ///   - url: absolute, http or https.
  ///   - tag: a name of your own, to cancel by and to remove from the cache by.
  ///   - onCompletion: the picture, which knows its operation and its final URL, the URL that was asked for, and whether
  ///     it came from the cache; on the delivery target.
  ///   - onError: also for a body that is no whole picture, `.decodeFailed` with the reason `notAnImage` or
  ///     `imageTruncated`; such a body is not kept in the cache.
  /// - Returns: the operation, to cancel it or to change its priority or tag.
  @discardableResult
  public func image(
    at url: String, tag: String? = nil,
    onCompletion: @escaping @Sendable (NetworkImage, String, Bool) -> Void,
    onError: @escaping @Sendable (NetworkError) -> Void = { _ in }
  ) -> NetworkOperation {
    let operation = operation(url: url)
    operation.tag = tag
    operation.demandImage()
    operation.onCompletion { [id = operation.id] response in
      guard var image = response.image else { return }
      image.operationID = id
      onCompletion(image, url, response.isFromCache)
    }
    operation.onError(onError)
    enqueue(operation)
    return operation
  }

  /// Fetches a picture and waits for it without blocking a thread. The bytes decide what it is, whatever `Content-Type` says.
  ///
  /// Throws what `response(for:)` throws, and for a body that is no whole picture `.decodeFailed` with the cause
  /// `notAnImage` or `imageTruncated`; such a body is not kept in the cache.
  ///
  /// - Parameters:
  ///   - url: absolute, http or https.
  ///   - tag: a name of your own, to cancel by and to remove from the cache by.
  public func image(at url: String, tag: String? = nil) async throws -> NetworkImage {
    let operation = operation(url: url)
    operation.tag = tag
    operation.demandImage()
    let response = try await response(for: operation)
    guard var image = response.image else { throw NetworkError(.decodeFailed, cause: .notAnImage) }
    image.operationID = operation.id
    return image
  }
}

extension NetworkOperation {
  /// An answer that is no whole picture becomes an error, and leaves the cache.
  package func demandImage() {
    let engine = engine
    demand { request, response in
      guard let defect = NetworkImage.defect(of: response.body.bytes) else { return nil }
      for place in Set([request.url, response.finalURL]) {
        engine.cache?.remove(answerTo: request, at: place)
      }
      return NetworkError(.decodeFailed, cause: NetworkError.Cause(defect), sendState: .answered)
    }
  }
}
