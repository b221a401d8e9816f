import NetSpool

/// `--write-out`: a text with `%{variables}` as curl's.
struct WriteOut {
  private enum Piece {
    case text(String)
    case variable(String)
    /// Of the answer's head.
    case field(String)
  }

  private let pieces: [Piece]

  /// Nil without one. `@file` has it, `@-` standard input; without its line ends, as with curl.
  init?(_ option: String?) throws(IOFailure) {
    guard var format = option else { return nil }
    if format.hasPrefix("@") {
      let bytes = try Descriptor.reading(String(format.dropFirst())).readAll(atMost: UserFile.bytesMax)
      format = String(decoding: bytes.filter { $0 != 0x0A && $0 != 0x0D && $0 != 0 }, as: UTF8.self)
    }
    pieces = Self.pieces(of: format)
  }

  /// What one exchange has to tell.
  struct Facts {
    var url = ""
    var method = ""
    var number = 0
    var fileName: String?
    var response: NetworkResponse?
    var error: NetworkError?
    var exitStatus = JobStatus.allDone
    var wire = WireWatch.Seen()
  }

  /// The text for standard output; `%{stderr}` sends what follows it to the other.
  func text(_ facts: Facts) -> (output: String, errors: String) {
    var parts = ["", ""]
    var side = 0
    for piece in pieces {
      switch piece {
      case .text(let text): parts[side] += text
      case .field(let name): parts[side] += facts.response?.headers[name] ?? ""
      case .variable("stderr"): side = 1
      case .variable("stdout"): side = 0
      case .variable("onerror"): if facts.exitStatus == .allDone { return (parts[0], parts[1]) }
      case .variable("json"): parts[side] += facts.json
      case .variable("header_json"): parts[side] += facts.headerJSON
      case .variable(let name): parts[side] += facts[name]?.text ?? ""
      }
    }
    return (parts[0], parts[1])
  }

  /// The variables that stay empty because nothing is known of them, each once.
  var unknown: [String] {
    let names = Set(pieces.compactMap { if case .variable(let name) = $0 { name } else { nil } })
    return names.subtracting(Self.orders).filter { Facts()[$0] == nil }.sorted()
  }

  /// Variables that are no facts of their own.
  private static let orders: Set = ["stderr", "stdout", "onerror", "json", "header_json"]

  private static func pieces(of format: String) -> [Piece] {
    var pieces: [Piece] = []
    var rest = format[...]
    while let letter = rest.popFirst() {
      switch (letter, rest.first) {
      case ("\\", let next?):
        rest.removeFirst()
        pieces.append(.text(["n": "\n", "r": "\r", "t": "\t"][next] ?? "\\\(next)"))
      case ("%", "%"):
        rest.removeFirst()
        pieces.append(.text("%"))
      case ("%", _): pieces.append(variable(&rest) ?? .text("%"))
      default: pieces.append(.text(String(letter)))
      }
    }
    return pieces
  }

  /// What stands behind a `%`: `{name}` or `header{name}`; nil for anything else.
  private static func variable(_ rest: inout Substring) -> Piece? {
    let isField = rest.hasPrefix("header{")
    guard isField || rest.hasPrefix("{"), let open = rest.firstIndex(of: "{"),
      let close = rest.firstIndex(of: "}")
    else { return nil }
    let name = String(rest[rest.index(after: open)..<close])
    rest = rest[rest.index(after: close)...]
    return isField ? .field(name) : .variable(name)
  }
}

extension WriteOut.Facts {
  /// A variable's value. curl writes each in its own way, and JSON in another.
  enum Value {
    case text(String?)
    case number(Int64)
    /// Three digits as a text.
    case status(Int)
    case time(Duration)

    var text: String {
      switch self {
      case .text(let text): text ?? ""
      case .number(let number): "\(number)"
      case .status(let status): HumanText.padded(status, to: 3, with: "0")
      case .time(let time): Self.seconds(time)
      }
    }

    var json: [UInt8] {
      switch self {
      case .text(let text): text.map(JSONText.quoted) ?? Array("null".utf8)
      case .status(let status): Array("\(status)".utf8)
      case .number, .time: Array(text.utf8)
      }
    }

    private static func seconds(_ time: Duration) -> String {
      let micro = time.microseconds
      return "\(micro / 1_000_000).\(HumanText.padded(Int(micro % 1_000_000), to: 6, with: "0"))"
    }
  }

  /// The variables in the order of their names, as curl's JSON has them. Times are all from the start.
  private static let table: [(name: String, value: @Sendable (Self) -> Value)] = [
    ("content_type", { .text($0.response?.headers["Content-Type"]) }),
    ("errormsg", { .text($0.error.map { FailureAdvice.text($0) }) }),
    ("exitcode", { .number(Int64($0.exitStatus.code)) }), ("filename_effective", { .text($0.fileName) }),
    ("http_code", { .status($0.response?.status ?? 0) }), ("http_connect", { _ in .status(0) }),
    ("http_version", { .text($0.response.map { String($0.httpVersion.dropFirst("HTTP/".count)) } ?? "0") }),
    ("local_ip", { .text($0.wire.local.address) }), ("local_port", { .number(Int64($0.wire.local.port)) }),
    ("method", { .text($0.method) }),
    ("num_connects", { .number($0.metrics?.connectionReused == true ? 0 : Int64($0.wire.ports.count)) }),
    ("num_headers", { .number(Int64($0.response?.headers.count ?? 0)) }),
    ("num_redirects", { .number(Int64($0.metrics?.redirects ?? 0)) }),
    ("num_retries", { .number(Int64(max(0, ($0.metrics?.attempts ?? $0.error?.attempts ?? 1) - 1))) }),
    ("redirect_url", { .text($0.response?.redirectURL) }), ("referer", { _ in .text(nil) }),
    ("remote_ip", { .text($0.wire.remote.address) }),
    ("remote_port", { .number(Int64($0.wire.remote.port)) }),
    ("response_code", { .status($0.response?.status ?? 0) }),
    ("scheme", { .text($0.url.lowercased().hasPrefix("https") ? "HTTPS" : "HTTP") }),
    ("size_download", { .number($0.metrics?.bytesReceived ?? 0) }),
    ("size_header", { .number($0.wire.headBytesReceived) }),
    ("size_request", { .number($0.wire.headBytesSent) }),
    ("size_upload", { .number($0.metrics?.bytesSent ?? 0) }),
    ("speed_download", { $0.speed($0.metrics?.bytesReceived) }),
    ("speed_upload", { $0.speed($0.metrics?.bytesSent) }),
    ("time_appconnect", { .time($0.tls == .zero ? .zero : $0.connected + $0.tls) }),
    ("time_connect", { .time($0.connected) }),
    ("time_namelookup", { .time($0.metrics?.nameLookup ?? .zero) }),
    ("time_pretransfer", { .time($0.connected + $0.tls) }), ("time_redirect", { _ in .time(.zero) }),
    ("time_starttransfer", { .time($0.metrics?.firstByte ?? .zero) }),
    ("time_total", { .time($0.metrics?.total ?? .zero) }), ("url", { .text($0.url) }),
    ("url_effective", { .text($0.response?.finalURL ?? $0.url) }), ("urlnum", { .number(Int64($0.number)) }),
  ]

  private var metrics: NetworkResponse.Metrics? { response?.metrics }
  private var tls: Duration { metrics?.tlsHandshake ?? .zero }
  private var connected: Duration { (metrics?.nameLookup ?? .zero) + (metrics?.connect ?? .zero) }

  private func speed(_ bytes: Int64?) -> Value {
    .number(Int64(Double(bytes ?? 0) / max(metrics?.total.seconds ?? 1, 1e-6)))
  }

  /// The value of a variable; nil for one that is not known.
  subscript(_ name: String) -> Value? {
    if name.hasPrefix("url.") { return Self.part(name.dropFirst(4), of: url) }
    if name.hasPrefix("urle.") { return Self.part(name.dropFirst(5), of: response?.finalURL ?? url) }
    return Self.table.first { $0.name == name }?.value(self)
  }

  private static func part(_ name: Substring, of url: String) -> Value? {
    switch name {
    case "scheme": .text(url.lowercased().hasPrefix("https:") ? "https" : "http")
    case "host": .text(URLText.host(url))
    case "port": .text(URLText.port(url))
    case "path": .text(URLText.path(url))
    case "query": .text(URLText.behind("?", url))
    case "fragment": .text(URLText.behind("#", url))
    case "user": .text(URLText.user(url)?.name)
    case "password": .text(URLText.user(url)?.password)
    case "options", "zoneid": .text(nil)
    default: nil
    }
  }

  fileprivate var json: String {
    let json = JSONText.object { json in
      for (name, value) in Self.table { json.field(name, raw: value(self).json) }
    }
    return String(decoding: json, as: UTF8.self)
  }

  /// The fields of the answer in small letters, each an array.
  fileprivate var headerJSON: String {
    let headers = response?.headers ?? NetworkRequest.Headers()
    var seen: Set<String> = []
    let json = JSONText.object { json in
      for field in headers where seen.insert(field.name.lowercased()).inserted {
        json.array(field.name.lowercased()) { json in
          for value in headers.values(for: field.name) { json.element(value) }
        }
      }
    }
    return String(decoding: json, as: UTF8.self)
  }
}
