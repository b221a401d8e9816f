import Glibc
import NetSpool

/// What `get` and `post` send: made once, for all URLs of a command line.
struct RequestDraft {
  /// Of a URL without a file to upload.
  private let method: String
  /// Of one with a file.
  private let uploadMethod: String
  let headers: NetworkRequest.Headers
  /// Fields that must not be sent.
  let omitted: [String]
  /// What the command line asks and is not done.
  let note: String?
  private let body: NetworkRequest.Body
  /// Goes behind the question mark of each URL.
  private let query: String
  /// The n-th goes to the n-th URL.
  private let uploads: [String]

  /// Throws for files that cannot be read, and reads standard input where it is asked for.
  init(_ arguments: ExchangeArguments, standard: String) throws {
    var fields = try arguments.request.fields()
    let options = arguments.body
    method = arguments.method ?? (arguments.target.head ? "HEAD" : options.method(standard: standard))
    uploadMethod = arguments.method ?? "PUT"
    body = options.inQuery ? .none : try options.content(omitsType: fields.omits("Content-Type"))
    query = options.inQuery ? String(decoding: try options.joinedTexts(), as: UTF8.self) : ""
    uploads = options.uploads
    if !arguments.curl { try options.requireFiles() }
    if !options.json.isEmpty {
      if !fields.names("Content-Type") { fields.sent.set("Content-Type", "application/json") }
      if !fields.names("Accept") { fields.sent.set("Accept", "application/json") }
    }
    if let range = arguments.target.range, !fields.names("Range") {
      // A number alone is where it begins, as with curl.
      let isStart = !range.contains("-")
      fields.sent.set("Range", isStart ? "bytes=\(range.prefix { $0 != "," })-" : "bytes=\(range)")
    }
    arguments.cookies.add(to: &fields.sent, unless: fields.names("Cookie"))
    let condition = arguments.target.timeCond.map(TimeCondition.init)
    note = condition?.problem
    if let condition, let date = condition.date, !fields.names(condition.field) {
      fields.sent.set(condition.field, date)
    }
    (headers, omitted) = (fields.sent, fields.omitted)
  }

  /// - Parameter number: which URL of the command line it is, from 0.
  func request(for url: String, _ number: Int) -> NetworkRequest {
    let upload = uploads.indices.contains(number) ? uploads[number] : nil
    let text = whole(upload.map { Self.named($0, url) } ?? url)
    var request = NetworkRequest(
      url: text, method: NetworkRequest.Method(upload == nil ? method : uploadMethod),
      body: upload.map { $0 == "-" ? .stream(StandardInputStream()) : .file($0) } ?? body)
    request.headers = headers
    return request
  }

  /// A URL whose path ends with a slash, or that has none, gets the name of the file that goes there.
  private static func named(_ path: String, _ url: String) -> String {
    let end = url.firstIndex { $0 == "?" || $0 == "#" } ?? url.endIndex
    let name = path.split(whereSeparator: { $0 == "/" || $0 == "\\" }).last.map { Array($0.utf8) } ?? []
    guard path != "-", URLText.lastPathComponent(url).isEmpty else { return url }
    let slash = url[..<end].hasSuffix("/") ? "" : "/"
    return url[..<end] + slash + String(decoding: PercentCoding.encoded(name), as: UTF8.self) + url[end...]
  }

  private func whole(_ url: String) -> String {
    let fragment = url.firstIndex(of: "#") ?? url.endIndex
    let text = String(url[..<fragment])
    if query.isEmpty { return text }
    if text.hasSuffix("?") || text.contains("?") && text.hasSuffix("&") { return text + query }
    return text + (text.contains("?") ? "&" : URLText.hasPath(text) ? "?" : "/?") + query
  }
}

extension BodyOptions {
  /// A body in memory is at most so long.
  static let inMemoryBytesMax = 256 << 20
  private static let formType = "application/x-www-form-urlencoded"
  private static let anyType = "application/octet-stream"

  /// Throws for a file that is sent as it stands and cannot be read: the library's failure would not name it.
  fileprivate func requireFiles() throws(IOFailure) {
    var paths = uploads + [file].compactMap(\.self) + texts.flatMap(\.file)
    for case .file(let path, _, _) in fields.map(\.content) { paths.append(path) }
    for path in paths where path != "-" { try UserFile.require(path) }
  }

  fileprivate func method(standard: String) -> String {
    if inQuery { return "GET" }
    return isEmpty || !uploads.isEmpty ? standard : "POST"
  }

  fileprivate func joinedTexts() throws(IOFailure) -> [UInt8] {
    var bytes: [UInt8] = []
    for (number, part) in texts.enumerated() {
      if number > 0 { bytes.append(UInt8(ascii: "&")) }
      bytes += try part.bytes()
    }
    return bytes
  }

  fileprivate func content(omitsType: Bool) throws(IOFailure) -> NetworkRequest.Body {
    if !texts.isEmpty { return try form(type: omitsType ? nil : Self.formType) }
    if !fields.isEmpty { return .multipart(try Multipart(fields)) }
    if !json.isEmpty {
      var bytes: [UInt8] = []
      for text in json { bytes += try text.part(.binary).bytes() }
      return .bytes(bytes)
    }
    guard let file else { return .none }
    let type = omitsType ? nil : Self.anyType
    guard file == "-" else { return .file(file, contentType: type) }
    return .bytes(try Descriptor.reading(file).readAll(atMost: Self.inMemoryBytesMax), contentType: type)
  }

  /// One file that goes as it stands is not read into memory.
  private func form(type: String?) throws(IOFailure) -> NetworkRequest.Body {
    if texts.count == 1, texts[0].kind == .binary, let path = texts[0].file.first, path != "-",
      FileFacts(path: path)?.isPlainFile ?? true
    {
      return .file(path, contentType: type)
    }
    return .bytes(try joinedTexts(), contentType: type)
  }
}

extension Multipart {
  fileprivate init(_ fields: [FormField]) throws(IOFailure) {
    self.init()
    for field in fields {
      switch field.content {
      case .text(let text):
        let type = field.type ?? field.fileName.flatMap(FormField.type)
        addData(Array(text.utf8), forKey: field.name, mimeType: type, fileName: field.fileName)
      case .textOf(let path):
        let bytes = try Descriptor.reading(path).readAll(atMost: BodyOptions.inMemoryBytesMax)
        addData(bytes, forKey: field.name, mimeType: field.type)
      case .file("-", let type, let name):
        let bytes = try Descriptor.reading("-").readAll(atMost: BodyOptions.inMemoryBytesMax)
        addData(bytes, forKey: field.name, mimeType: type, fileName: name ?? "-")
      case .file(let path, let type, let name):
        let guess = name.flatMap(FormField.type) ?? FormField.type(of: path)
        addFile(path, forKey: field.name, mimeType: type ?? guess, fileName: name)
      }
    }
  }
}

/// `-T -`: standard input as it comes. It can be read once, so the request is not repeated.
final class StandardInputStream: UploadStream {
  var length: Int64? { nil }
  var isReopenable: Bool { false }
  func open() {}
  func close() {}

  /// Never waits: the loop has other things to do.
  func read(atMost count: Int) throws -> UploadChunk {
    let input = Descriptor(borrowing: 0, named: "standard input")
    guard input.isReadable else { return .pause }
    var buffer = [UInt8](repeating: 0, count: min(count, 65_536))
    let got = try input.read(into: &buffer, at: 0, count: buffer.count)
    return got == 0 ? .end : .bytes(Array(buffer[..<got]))
  }
}

/// `--time-cond`: a field that asks for what is newer, or older, than a time.
struct TimeCondition {
  let field: String
  /// Nil for what is neither a file nor a date: then there is no condition, as with curl.
  let date: String?
  var problem: String?

  init(_ text: String) {
    let isOlder = text.hasPrefix("-")
    let rest = isOlder || text.hasPrefix("+") ? String(text.dropFirst()) : text
    field = isOlder ? "If-Unmodified-Since" : "If-Modified-Since"
    date = (FileFacts.modified(rest) ?? HTTPDate.written(rest)).map { HTTPDate.format($0) }
    if date == nil {
      problem =
        "--time-cond \(text): there is no such file, and it is no date; it is asked without a condition"
    }
  }
}
