/// The bytes of an image file, with what its headers tell.
///
/// Nothing is decoded: a file may be complete and still hold damaged pixels, and a small file may unfold into
/// billions of pixels. Whoever decodes should look at `pixelWidth` and `pixelHeight` first.
public struct NetworkImage: Sendable {
  /// The file, byte for byte; not copied from the response.
  public let body: ResponseBody
  private let info: ImageInfo

  /// Nil when the bytes are no image of a known format. A cut-off file gives an image that is not complete as
  /// soon as its size can be read. Takes time linear in the size of the file at most; any thread.
  init?(_ body: ResponseBody) {
    guard let info = ImageInfo.sniff(body.bytes) else { return nil }
    self.body = body
    self.info = info
  }

  /// The format, found by the first bytes and never by `Content-Type`, which servers get wrong.
  public var format: Format { Format(kind: info.format) }
  /// Columns of pixels: 1 to 2,147,483,647. As stored: an orientation given by EXIF or by HEIF's `irot` is
  /// not applied, so for a photo taken upright this may be the longer side. Of GIF and animated WebP, the
  /// canvas.
  public var pixelWidth: Int { info.pixelSize.width }
  /// Rows of pixels: 1 to 2,147,483,647, stored like `pixelWidth`.
  public var pixelHeight: Int { info.pixelSize.height }
  /// The file reaches the end that its own structure gives it: no byte is missing. What follows that end is
  /// ignored. Checksums are not verified.
  public var isComplete: Bool { info.isComplete }
}
