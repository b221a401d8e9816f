import Glibc
import NetSpool

/// What `get` and `post` send: made once, for all URLs of a command line.
struct RequestDraft {
  /// Of a URL without a file to upload.
  private let method: String
  private let uploadMethod: String
  let headers: NetworkRequest.Headers
  let omitted: [String]
  private let body: NetworkRequest.Body
  /// Goes behind the question mark of each URL.
  private let query: String
  /// The n-th goes to the n-th URL.
  private let uploads: [String]

  /// Throws for files that cannot be read, and reads standard input where it is asked for.
  /// - Parameter console: hears of what the command line asks and is not done.
  init(_ arguments: any ExchangeOptions, _ console: Console) throws {
    var fields = try arguments.request.fields()
    let options = arguments.body
    let bodyMethod = options.isEmpty || !options.uploads.isEmpty ? arguments.standardMethod : "POST"
    method = arguments.words.method ?? (arguments.target.head ? "HEAD" : options.inQuery ? "GET" : bodyMethod)
    uploadMethod = arguments.words.method ?? "PUT"
    body = options.inQuery ? .none : try options.content(omitsType: fields.omits("Content-Type"))
    let inQuery =
      (options.inQuery ? options.texts : []) + options.urlQuery.map { DataText(.encoded, $0.text) }
    query = String(decoding: try BodyOptions.joined(inQuery), as: UTF8.self)
    uploads = options.uploads
    if !arguments.words.curl { try options.requireFiles() }
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
    if let path = arguments.target.etagCompare, !fields.names("If-None-Match") {
      fields.sent.set("If-None-Match", try EntityTag.read(path))
    }
    let condition = arguments.target.timeCond.map(TimeCondition.init)
    if let problem = condition?.problem, !arguments.target.isMute { console.message("netspool: \(problem)") }
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
      body: upload.map(Self.content) ?? body)
    request.headers = headers
    return request
  }

  /// What is no plain file, such as standard input or a pipe of the shell's, is sent as it comes.
  private static func content(of path: String) -> NetworkRequest.Body {
    let isPipe = path == "-" || FileFacts(path: path).map { !$0.isPlainFile && !$0.isDirectory } ?? false
    return isPipe ? .stream(PipeStream(path)) : .file(path)
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
  static let inMemoryBytesMax = 256 << 20
  private static let formType = "application/x-www-form-urlencoded"
  private static let anyType = "application/octet-stream"

  /// Throws for a file that is sent as it stands and cannot be read: the library's failure would not name it.
  fileprivate func requireFiles() throws(IOFailure) {
    var paths = uploads + [file].compactMap(\.self) + texts.flatMap(\.file)
    for case .file(let path, _, _) in form.map(\.content) { paths.append(path) }
    for path in paths where path != "-" {
      guard unsafe access(path, R_OK) == 0 else { throw .last("open", path) }
    }
  }

  fileprivate static func joined(_ texts: [DataText]) throws(IOFailure) -> [UInt8] {
    var bytes: [UInt8] = []
    for (number, part) in texts.enumerated() {
      if number > 0 { bytes.append(UInt8(ascii: "&")) }
      bytes += try part.bytes()
    }
    return bytes
  }

  fileprivate func content(omitsType: Bool) throws(IOFailure) -> NetworkRequest.Body {
    if !texts.isEmpty { return try form(type: omitsType ? nil : Self.formType) }
    if !form.isEmpty { return .multipart(try Multipart(form)) }
    if !json.isEmpty {
      var bytes: [UInt8] = []
      for text in json { bytes += try DataText(.binary, text.text).bytes() }
      return .bytes(bytes)
    }
    guard let file else { return .none }
    let type = omitsType ? nil : Self.anyType
    guard file == "-" else { return .file(file, contentType: type) }
    return .bytes(try Descriptor.reading(file).readAll(atMost: Self.inMemoryBytesMax), contentType: type)
  }

  /// A single file that goes as it stands is not read into memory.
  private func form(type: String?) throws(IOFailure) -> NetworkRequest.Body {
    if texts.count == 1, texts[0].kind == .binary, let path = texts[0].file.first, path != "-",
      FileFacts(path: path)?.isPlainFile ?? true
    {
      return .file(path, contentType: type)
    }
    return .bytes(try Self.joined(texts), contentType: type)
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
      // A pipe has no length, which the body must have.
      case .file(let path, let type, let name)
      where path == "-" || FileFacts(path: path)?.isPlainFile == false:
        let bytes = try Descriptor.reading(path).readAll(atMost: BodyOptions.inMemoryBytesMax)
        let last = path.split(separator: "/").last.map(String.init)
        addData(bytes, forKey: field.name, mimeType: type, fileName: name ?? last)
      case .file(let path, let type, let name):
        let guess = name.flatMap(FormField.type) ?? FormField.type(of: path)
        addFile(path, forKey: field.name, mimeType: type ?? guess, fileName: name)
      }
    }
  }
}

/// A pipe or a device as it comes. It can be read once, so the request is not repeated.
final class PipeStream: UploadStream {
  private let input: Result<SharedDescriptor, IOFailure>

  /// Opens it, and waits for its writer.
  init(_ path: String) {
    input = Result { () throws(IOFailure) in SharedDescriptor(try Descriptor.reading(path)) }
  }

  var length: Int64? { nil }
  var isReopenable: Bool { false }
  func open() {}
  func close() {}

  /// Never waits: the loop has other things to do.
  func read(atMost count: Int) throws -> UploadChunk {
    let input = try input.get()
    guard input.descriptor.isReadable else { return .pause }
    var buffer = [UInt8](repeating: 0, count: min(count, 65_536))
    let got = try input.descriptor.read(into: &buffer, at: 0, count: buffer.count)
    return got == 0 ? .end : .bytes(Array(buffer[..<got]))
  }
}

/// `--etag-save` and `--etag-compare`: a file that holds an entity-tag.
enum EntityTag {
  /// An answer without one empties the file, as with curl.
  static func save(_ headers: NetworkRequest.Headers, to path: String) throws(IOFailure) {
    let tag = headers["ETag"].map { "\($0)\n" } ?? ""
    if path == "-" { return try StandardOutput.write(Array(tag.utf8)) }
    try WholeFile.write(Array(tag.utf8), to: path, mode: 0o666)
  }

  /// `""`, which no answer has, where there is no file yet.
  static func read(_ path: String) throws(IOFailure) -> String {
    let text = try UserFile.read(path) ?? ""
    let tag = text.prefix { !$0.isNewline }
    return tag.isEmpty ? "\"\"" : String(tag)
  }
}

/// `--time-cond`: a field that asks for what is newer, or older, than a time.
struct TimeCondition {
  let field: String
  /// Nil for what is neither a file nor a date: then there is no condition, as with curl.
  var date: String? { time.map { HTTPDate.format($0) } }
  var problem: String?
  private let time: Int64?
  private let isOlder: Bool

  init(_ text: String) {
    isOlder = text.hasPrefix("-")
    let rest = isOlder || text.hasPrefix("+") ? String(text.dropFirst()) : text
    field = isOlder ? "If-Unmodified-Since" : "If-Modified-Since"
    time = FileFacts.modified(rest) ?? HTTPDate.written(rest)
    if time == nil {
      problem =
        "--time-cond \(text): there is no such file, and it is no date; it is asked without a condition"
    }
  }
  /// True if an answer is what was asked for; one without a date is.
  func holds(_ headers: NetworkRequest.Headers) -> Bool {
    guard let time, let modified = headers["Last-Modified"].flatMap({ HTTPDate.written($0) }) else {
      return true
    }
    return isOlder ? modified <= time : modified > time
  }
}
