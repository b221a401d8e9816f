/// How far a compressed body may unfold: a few bytes must not fill a disk.
struct DecodingLimits: Sendable, Hashable {
  /// 100: more decoded bytes than so many per received byte are refused.
  var ratioMax: Int64 = 100
  /// 1 MiB: the ratio is not looked at before; short bodies of blanks compress better than that.
  var ratioFreeBytes: Int64 = 1 << 20
  /// 256 MiB: more decoded bytes are refused at any ratio.
  var decodedBytesMax: Int64 = 256 << 20

  init() {}

  /// Throws `decompressionLimit(absolute)` or `(ratio)`.
  func check(decoded: Int64, received: Int64) throws(NetworkError) {
    if decoded > decodedBytesMax { throw Self.failure("absolute") }
    if decoded > ratioFreeBytes && decoded / ratioMax > received { throw Self.failure("ratio") }
  }

  private static func failure(_ which: String) -> NetworkError {
    NetworkError(.decompressionLimit, reason: which, sendState: .answered)
  }
}
