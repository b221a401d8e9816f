/// Undoes a `Content-Encoding` (RFC 9110 section 8.4) and proves that the body was whole.
///
/// libcurl's own decoding reports a compressed body that was cut short as success; this one does not.
/// Known are gzip (`x-gzip`; several members are one body) and deflate, with its zlib wrapping as the standard
/// says and without as some servers send it; with the traits of these names Brotli and Zstandard. At most three are undone, one
/// after the other. A body with an unknown one among them is handed out as it came. Every failure is a
/// `Failure` with `decodeFailed(tooManyLayers | notEncoded | truncated | checksum | trailingData)` or
/// `decompressionLimit(ratio | absolute)`; after one the decoder is of no more use.
final class ContentDecoder {
  /// What to ask for in `Accept-Encoding`.
  static let acceptEncoding = codings.joined(separator: ", ")

  enum Coding: String { case gzip, deflate, brotli = "br", zstd }

  /// More layers are refused.
  private static let layersMax = 3

  private let coding: Coding
  /// Undoes the coding beneath this one; nil for the last.
  private let inner: ContentDecoder?
  private let limits: DecodingLimits
  private var unpacker: (any Unpacker)?
  private var output = UnpackedOutput()
  /// Came, and is not decoded yet: of "deflate" the first byte, as two tell its two kinds apart; otherwise what came since no
  /// more was taken.
  private var rest: [UInt8] = []
  /// There was no room for all that the unpacker has: it goes on without another byte.
  private var mayHaveMore = false
  private var isAtEnd = false
  /// gzip members begun.
  private var members = 1
  private(set) var bytesReceived: Int64 = 0
  private(set) var bytesDecoded: Int64 = 0

  init(_ coding: Coding, limits: DecodingLimits, inner: ContentDecoder? = nil) {
    self.coding = coding
    self.inner = inner
    self.limits = limits
    unpacker = Self.unpacker(for: coding)
  }

  /// Nil where the first bytes must tell.
  private static func unpacker(for coding: Coding) -> (any Unpacker)? {
    switch coding {
    case .gzip: return Inflater(.gzip)
    case .deflate: return nil
    case .brotli:
      #if Brotli
      return BrotliUnpacker()
      #else
      return nil
      #endif
    case .zstd:
      #if Zstd
      return ZstdUnpacker()
      #else
      return nil
      #endif
    }
  }

  /// The codings that `make` knows, by the names that are asked for.
  static var codings: [String] {
    var codings = ["gzip", "deflate"]
    #if Brotli
    codings.append("br")
    #endif
    #if Zstd
    codings.append("zstd")
    #endif
    return codings
  }

  private static let known = codings

  /// The decoder for a head's fields; nil when the body comes as it is, or in a coding that is unknown here.
  static func make(
    for headers: Headers, limits: DecodingLimits = DecodingLimits()
  ) throws(NetworkError) -> ContentDecoder? {
    let layers = layers(in: headers)
    guard layers.count <= layersMax else { throw failure("tooManyLayers") }
    // The first was applied first, so it is undone last (RFC 9110 section 8.4).
    return layers.reduce(nil) { ContentDecoder($1, limits: limits, inner: $0) }
  }

  /// The codings of a body that can be undone; empty for one that comes as it is or with a coding that is unknown here.
  static func layers(in headers: Headers) -> [Coding] {
    var layers: [Coding] = []
    for name in names(in: headers) {
      guard let coding = coding(name) else { return [] }
      layers.append(coding)
    }
    return layers
  }

  private static func coding(_ name: String) -> Coding? {
    if name == "x-gzip" { return .gzip }
    return known.contains(name) ? Coding(rawValue: name) : nil
  }

  /// What all `Content-Encoding` fields name, `?` for what is no token. "identity" says nothing and is left out, and so is
  /// "aws-chunked", which told the store how the body was sent to it, and is kept by it as part of the field.
  private static func names(in headers: Headers) -> [String] {
    let fields = headers.allBytes("Content-Encoding").flatMap { $0.split(separator: UInt8(ascii: ",")) }
    let names: [String] = fields.flatMap { FieldNames.parse($0) ?? ["?"] }
    return names.filter { $0 != "identity" && $0 != "aws-chunked" }
  }

  static func failure(_ reason: String) -> NetworkError {
    NetworkError(.decodeFailed, reason: reason, sendState: .answered)
  }

  /// Decodes the next bytes; `emit` gets at most 64 KiB at a time and says whether it takes more, and what it throws is passed
  /// on. False: it takes no more. What is left is kept, and what comes behind it, until a call without bytes goes on with it.
  @discardableResult
  func decode(_ bytes: RawSpan, emit: (RawSpan) throws -> Bool) throws -> Bool {
    bytesReceived += Int64(bytes.byteCount)
    if isHeldUp {
      guard bytes.isEmpty else {
        rest.append(bytes)
        return false
      }
      guard try inner?.isHeldUp != true || handOn(bytes, emit) else { return false }
    } else if unpacker == nil {
      rest.append(bytes)
      guard rest.count >= 2 else { return true }
      unpacker = Inflater(Self.isZlibHeader(rest) ? .zlib : .raw)
    } else {
      return try unpack(bytes, emit)
    }
    let left = rest
    rest = []
    return try unpack(left.rawBytes, emit)
  }

  /// Something is left that was not taken.
  var isHeldUp: Bool { unpacker != nil && (!rest.isEmpty || mayHaveMore || inner?.isHeldUp == true) }

  /// RFC 1950 section 2.2. No encoder begins a raw stream so: it would be a stored block with padding bits set.
  private static func isZlibHeader(_ bytes: [UInt8]) -> Bool {
    bytes[0] & 0x0F == 8 && bytes[0] >> 4 <= 7 && (Int(bytes[0]) << 8 | Int(bytes[1])) % 31 == 0
  }

  private func unpack(_ bytes: RawSpan, _ emit: (RawSpan) throws -> Bool) throws -> Bool {
    guard let unpacker else { return true }
    var position = 0
    while position < bytes.byteCount || mayHaveMore {
      if isAtEnd { try beginMember(unpacker) }
      let step = try step(unpacker, bytes.extracting(position...))
      position += step.consumed
      isAtEnd = step.isAtEnd
      mayHaveMore = output.isFull && !isAtEnd
      bytesDecoded += Int64(output.count)
      try limits.check(decoded: bytesDecoded, received: bytesReceived - Int64(bytes.byteCount - position))
      guard try output.count == 0 || output.lend(to: { try handOn($0, emit) }) else {
        rest.append(bytes.extracting(position...))
        return false
      }
    }
    return true
  }

  /// The limits hold for each layer, and for all of them together.
  private func handOn(_ bytes: RawSpan, _ emit: (RawSpan) throws -> Bool) throws -> Bool {
    guard let inner else { return try emit(bytes) }
    return try inner.decode(bytes) { piece in
      try limits.check(decoded: inner.bytesUnfolded, received: bytesReceived)
      return try emit(piece)
    }
  }

  /// What came out of the last layer.
  private var bytesUnfolded: Int64 { inner?.bytesUnfolded ?? bytesDecoded }

  private func step(_ unpacker: any Unpacker, _ bytes: RawSpan) throws(NetworkError) -> UnpackingStep {
    do throws(UnpackingProblem) {
      return try unpacker.step(bytes, into: &output)
    } catch {
      switch error {
      case .notEncoded: throw Self.failure(members > 1 ? "trailingData" : "notEncoded")
      case .damaged: throw Self.failure("checksum")
      case .outOfMemory: throw NetworkError(.outOfMemory, sendState: .answered)
      }
    }
  }

  /// Bytes behind a stream's end: another member after gzip's, another frame after zstd's, and nothing else.
  private func beginMember(_ unpacker: any Unpacker) throws(NetworkError) {
    guard coding == .gzip || coding == .zstd else { throw Self.failure("trailingData") }
    unpacker.reset()
    isAtEnd = false
    members += 1
  }

  /// The body has ended: throws unless the stream has, too. No body at all is whole: HEAD and 304 have the field.
  func finish() throws(NetworkError) {
    guard bytesReceived > 0 && (!isAtEnd || isHeldUp) else { return try inner?.finish() ?? () }
    if members > 1, let unpacker, unpacker.bytesRead < 2 { throw Self.failure("trailingData") }
    throw Self.failure("truncated")
  }
}

/// How far a compressed body may unfold: a few bytes must not fill a disk.
struct DecodingLimits: Sendable, Hashable {
  /// 100: more decoded bytes than so many per received byte are refused.
  var ratioMax: Int64 = 100
  /// 1 MiB: the ratio is not looked at before; short bodies of blanks compress better than that.
  var ratioFreeBytes: Int64 = 1 << 20
  /// 256 MiB: more decoded bytes are refused at any ratio.
  var decodedBytesMax: Int64 = 256 << 20

  /// Throws `decompressionLimit(absolute)` or `(ratio)`.
  func check(decoded: Int64, received: Int64) throws(NetworkError) {
    if decoded > decodedBytesMax { throw Self.failure("absolute") }
    if decoded > ratioFreeBytes && decoded / ratioMax > received { throw Self.failure("ratio") }
  }

  private static func failure(_ which: String) -> NetworkError {
    NetworkError(.decompressionLimit, reason: which, sendState: .answered)
  }
}
