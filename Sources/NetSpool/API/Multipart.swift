/// A `multipart/form-data` body (RFC 7578): fields and files in order.
///
/// Files are streamed from disk while the body is sent; the length is known beforehand and nothing is copied
/// as a whole. The boundary is random for every value (128 bits), so no content needs to be searched for it: it cannot be
/// guessed by who wrote a file, and does not turn up by chance.
public struct Multipart: Sendable {
  var parts: [Part] = []
  /// Stands between the parts; equal in every attempt of one request.
  let boundary: String

  /// No parts yet.
  public init() {
    var generator = SystemRandomNumberGenerator()
    self.init(using: &generator)
  }

  init(using generator: inout some RandomNumberGenerator) {
    boundary = "NetSpool-" + Self.hex(generator.next()) + Self.hex(generator.next())
  }

  var contentType: String { "multipart/form-data; boundary=\(boundary)" }

  /// Appends bytes; with a file name a server takes them for an uploaded file.
  public mutating func addData(
    _ bytes: [UInt8], forKey key: String, mimeType: String? = nil, fileName: String? = nil
  ) {
    parts.append(Part(name: key, fileName: fileName, mimeType: mimeType, content: .bytes(bytes)))
  }

  /// Appends a field of text.
  public mutating func addField(_ text: String, forKey key: String) {
    addData(Array(text.utf8), forKey: key)
  }

  /// Appends a file under its base name; it is read while the request is sent. One that is missing or unreadable ends
  /// the operation with `.uploadSourceFailed` before anything is sent.
  public mutating func addFile(_ path: String, forKey key: String, mimeType: String? = nil) {
    let start = path.utf8.lastIndex(of: UInt8(ascii: "/")).map(path.utf8.index(after:))
    let fileName = String(path[(start ?? path.startIndex)...])
    parts.append(Part(name: key, fileName: fileName, mimeType: mimeType, content: .file(path)))
  }

  private static func hex(_ value: UInt64) -> String {
    let digits = String(value, radix: 16)
    return String(repeating: "0", count: 16 - digits.utf8.count) + digits
  }
}

extension Multipart {
  /// One field or file.
  struct Part: Hashable, Sendable {
    enum Content: Hashable, Sendable {
      case bytes([UInt8])
      case file(String)
    }

    var name: String
    var fileName: String?
    var mimeType: String?
    var content: Content

    init(name: String, fileName: String? = nil, mimeType: String? = nil, content: Content) {
      self.name = name
      self.fileName = fileName
      self.mimeType = mimeType
      self.content = content
    }

    /// The type sent: the one given, else `application/octet-stream` for a file and none for a field.
    var sentType: String? { mimeType ?? (fileName == nil ? nil : "application/octet-stream") }
  }
}
