/// A `multipart/form-data` body (RFC 7578): fields and files in order.
///
/// Files are streamed from disk while the body is sent; the length is known beforehand and nothing is copied
/// as a whole. The boundary is random (128 bits), so no content can collide with it.
public struct Multipart: Sendable {
  var core: CoreMultipart
  init(core: CoreMultipart) { self.core = core }

  /// No parts yet.
  public init() { core = CoreMultipart() }

  /// Appends bytes; with a file name a server takes them for an uploaded file.
  public mutating func addData(
    _ bytes: [UInt8], forKey key: String, mimeType: String? = nil, fileName: String? = nil
  ) {
    core.addData(bytes, forKey: key, mimeType: mimeType, fileName: fileName)
  }

  /// Appends a field of text.
  public mutating func addField(_ text: String, forKey key: String) {
    core.addData(Array(text.utf8), forKey: key)
  }

  /// Appends a file under its base name. One that is missing or unreadable ends the operation with
  /// `.uploadSourceFailed` before anything is sent.
  public mutating func addFile(_ path: String, forKey key: String, mimeType: String? = nil) {
    core.addFile(path, forKey: key, mimeType: mimeType)
  }
}
