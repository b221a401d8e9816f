/// The image formats that are told apart.
enum ImageFormat: UInt8, Sendable, CaseIterable {
  case png, jpeg, gif, webP, avif, heif, bmp

  /// The registered media type (RFC 2045, 7903, 9649; PNG, AVIF and HEIF by their own registrations).
  var mimeType: String {
    switch self {
    case .png: "image/png"
    case .jpeg: "image/jpeg"
    case .gif: "image/gif"
    case .webP: "image/webp"
    case .avif: "image/avif"
    case .heif: "image/heif"
    case .bmp: "image/bmp"
    }
  }

  /// The format whose signature stands at the beginning (WHATWG MIME Sniffing section 6.1; for AVIF and HEIF
  /// the brands of ISO/IEC 23008-12 section 10).
  init?(signature bytes: ImageBytes) {
    switch bytes.code(0) {
    case "\u{89}PNG" where bytes.code(4) == "\r\n\u{1A}\n": self = .png
    case "GIF8": self = .gif
    case "RIFF" where bytes.code(8) == "WEBP": self = .webP
    case _ where bytes.big(0, width: 3) == 0xFF_D8FF: self = .jpeg
    case _ where bytes.code(4) == "ftyp":
      guard let format = HEIFSniffer.format(bytes) else { return nil }
      self = format
    case _ where bytes.big(0, width: 2) == 0x424D: self = .bmp
    default: return nil
    }
  }
}
