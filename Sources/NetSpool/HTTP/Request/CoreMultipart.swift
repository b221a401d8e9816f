/// A `multipart/form-data` body (RFC 7578): fields and files in order.
///
/// The boundary is random for every value, so no content needs to be searched for it: 128 bits cannot be
/// guessed by who wrote a file, and do not turn up by chance.
struct CoreMultipart: Sendable {
  var parts: [Part] = []
  /// Stands between the parts; equal in every attempt of one request.
  let boundary: String

  init() {
    var generator = SystemRandomNumberGenerator()
    self.init(using: &generator)
  }

  init(using generator: inout some RandomNumberGenerator) {
    boundary = "NetSpool-" + Self.hex(generator.next()) + Self.hex(generator.next())
  }

  var contentType: String { "multipart/form-data; boundary=\(boundary)" }

  /// Appends bytes or text; with a file name a server takes them for an uploaded file.
  mutating func addData(
    _ bytes: [UInt8], forKey name: String, mimeType: String? = nil, fileName: String? = nil
  ) {
    parts.append(Part(name: name, fileName: fileName, mimeType: mimeType, content: .bytes(bytes)))
  }

  /// Appends a file under its own base name; it is read while the request is sent.
  mutating func addFile(_ path: String, forKey name: String, mimeType: String? = nil) {
    let start = path.utf8.lastIndex(of: UInt8(ascii: "/")).map(path.utf8.index(after:))
    let fileName = String(path[(start ?? path.startIndex)...])
    parts.append(Part(name: name, fileName: fileName, mimeType: mimeType, content: .file(path)))
  }

  private static func hex(_ value: UInt64) -> String {
    let digits = String(value, radix: 16)
    return String(repeating: "0", count: 16 - digits.utf8.count) + digits
  }
}

extension CoreMultipart {
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
