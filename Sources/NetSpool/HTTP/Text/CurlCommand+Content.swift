/// A body as curl's words, and what curl assumes because of them.
struct CurlContent {
  var words: [String] = []
  /// A command whose output is the body.
  var input: String?
  /// curl would take braces and brackets in a word for a list of files.
  var needsGlobOff = false
  /// The method curl uses when it sees these words.
  var impliedMethod = "GET"
  /// The `Content-Type` curl adds when it sees these words.
  var impliedType: String?
  /// The `Content-Type` the body asks for.
  var contentType: String?
  /// curl writes the field itself, with its own boundary.
  var ownsContentType = false
}

extension CurlCommand {
  /// The body's words; `redaction` nil reveals secrets. `HEAD` carries none: libcurl sends none either.
  func content(_ redaction: Redaction?) -> CurlContent {
    if method == .head { return CurlContent() }
    switch body {
    case .none: return empty()
    case .bytes(let bytes, _), .json(let bytes): return data(bytes, redaction)
    case .form(let parameters): return data(FormBody.encode(parameters.pairs), redaction)
    case .custom(_, let encode):
      return (try? encode(parameters)).map { data($0, redaction) } ?? empty()
    case .file(let path, _): return file(path)
    case .stream: return upload("-")
    case .multipart(let multipart):
      return formWords(multipart, redaction) ?? pipedMultipart(multipart, redaction)
    }
  }

  /// POST, PUT and PATCH say that their body is empty (RFC 9110 section 8.6).
  private func empty() -> CurlContent {
    ["POST", "PUT", "PATCH"].contains(method.name) ? dataWords(["--data-binary", "''"], nil) : CurlContent()
  }

  private func data(_ bytes: [UInt8], _ redaction: Redaction?) -> CurlContent {
    let type = headers.first("Content-Type") ?? body.contentType
    let shown = Self.shown(bytes, type, redaction)
    guard shown.count <= ShellWord.bytesMax, let text = ShellWord.text(shown) else {
      return dataWords(["--data-binary", "@-"], ShellWord.printing(shown))
    }
    // A leading @ would name a file; --data-raw is the same word without that meaning.
    let option = text.utf8.first == UInt8(ascii: "@") ? "--data-raw" : "--data-binary"
    return dataWords([option, ShellWord.quote(text, always: true)], nil)
  }

  private func dataWords(_ words: [String], _ input: String?) -> CurlContent {
    CurlContent(
      words: words, input: input, impliedMethod: "POST", impliedType: FormBody.contentType,
      contentType: body.contentType)
  }

  /// `-T` streams the file but means PUT, and appends the file's name to a URL that ends in a slash.
  private func file(_ path: String) -> CurlContent {
    let path = Self.plainPath(path)
    if method == .put && !Self.pathEndsInSlash(url) { return upload(path) }
    return dataWords(["--data-binary", ShellWord.quote("@\(path)", always: true)], nil)
  }

  private func upload(_ path: String) -> CurlContent {
    CurlContent(
      words: ["-T", ShellWord.quote(path, always: path != "-")], needsGlobOff: true, impliedMethod: "PUT",
      contentType: body.contentType)
  }

  /// curl reads standard input for `-`, and for `.` as an upload.
  static func plainPath(_ path: String) -> String { path == "-" || path == "." ? "./\(path)" : path }

  private static func pathEndsInSlash(_ url: String) -> Bool {
    let path = url.utf8.prefix { $0 != UInt8(ascii: "?") && $0 != UInt8(ascii: "#") }
    let authority = path.firstIndex(of: UInt8(ascii: ":")).map { path[$0...].dropFirst(3) } ?? path[...]
    return path.last == UInt8(ascii: "/") || !authority.contains(UInt8(ascii: "/"))
  }

  static func shown(_ bytes: [UInt8], _ type: String?, _ redaction: Redaction?) -> [UInt8] {
    guard let redaction, let text = String(validating: bytes, as: UTF8.self) else { return bytes }
    return Array(redaction.body(text, contentType: type).utf8)
  }
}
