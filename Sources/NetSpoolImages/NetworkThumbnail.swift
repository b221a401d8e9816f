#if Images
public import NetSpool

/// A thumbnail, encoded.
public struct NetworkThumbnail: Sendable {
  /// The file: its bytes, format and size in pixels.
  public let image: NetworkImage
  /// True when it was in the cache: then nothing was decoded.
  public let isFromCache: Bool
  /// The URL that answered, after redirects; of one from the cache the one that was asked for.
  public let finalURL: String
  /// Bytes of the picture that it was made of.
  public let sourceBytes: Int
  /// The answer that the picture came with; of one from the cache, what was stored of it.
  package let response: NetworkResponse

  /// As it was just made of an answer.
  init?(_ made: [UInt8], of response: NetworkResponse) {
    guard let image = NetworkImage(ResponseBytes(made)) else { return nil }
    self.image = image
    self.response = response
    isFromCache = false
    sourceBytes = response.body.count
    finalURL = response.finalURL
  }

  /// As the cache had it.
  init?(held: NetworkResponse) {
    guard let image = held.image, let bytes = held.derivedFromBytes else { return nil }
    self.image = image
    response = held
    isFromCache = true
    sourceBytes = bytes
    finalURL = held.finalURL
  }

  /// The bytes of the file.
  public var body: ResponseBytes { image.body }
}

extension NetworkThumbnail: CustomStringConvertible, CustomReflectable {
  /// Format, sides, bytes and the answer that it was made of, secrets masked.
  public var description: String { "\(image), of \(response)" }

  /// The description: `dump` goes by it.
  public var customMirror: Mirror { Mirror(self, children: ["thumbnail": description]) }
}
#endif
