import Glibc
import NetSpool

extension PostOptions: ExchangeOptions {
  func makeRequest() throws(IOFailure) -> NetworkRequest {
    var request = NetworkRequest(url: url, method: NetworkRequest.Method(method), body: try body.body)
    // The request's own, not the engine's: a Content-Type of the body's would hide the engine's, and whoever sends a
    // frozen one later sends the same.
    request.headers = self.request.headers
    request.idempotencyKey = idempotencyKey
    return request
  }

  func cacheSettings(_ environment: Environment) -> CacheSettings? { nil }
}

extension BodyOptions {
  /// Throws what reading standard input does.
  fileprivate var body: NetworkRequest.Body {
    get throws(IOFailure) {
      if !data.isEmpty { return .bytes(Array(data.joined(separator: "&").utf8), contentType: Self.formType) }
      if !form.isEmpty { return .multipart(Multipart(form)) }
      if let json { return .json(Array(json.utf8)) }
      guard let file else { return .none }
      if file == "-" { return .bytes(try Self.standardInput(), contentType: Self.anyType) }
      return .file(file, contentType: Self.anyType)
    }
  }

  private static let formType = "application/x-www-form-urlencoded"
  private static let anyType = "application/octet-stream"
  /// It is kept in memory.
  private static let standardInputBytesMax = 256 << 20

  private static func standardInput() throws(IOFailure) -> [UInt8] {
    let input = Descriptor(borrowing: 0, named: "standard input")
    var (bytes, buffer) = ([UInt8](), [UInt8](repeating: 0, count: OutputFile.bufferBytes))
    while true {
      let count = try input.read(into: &buffer, at: 0, count: buffer.count)
      if count == 0 { return bytes }
      bytes += buffer[..<count]
      if bytes.count > standardInputBytesMax {
        throw IOFailure(action: "read", path: "standard input", code: EFBIG)
      }
    }
  }
}

extension Multipart {
  fileprivate init(_ fields: [FormField]) {
    self.init()
    for field in fields {
      switch field.content {
      case .text(let text): addField(text, forKey: field.name)
      case .file(let path, let type): addFile(path, forKey: field.name, mimeType: type)
      }
    }
  }
}
