import NetSpool
import Synchronization

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
    guard let option else { return nil }
    guard option.hasPrefix("@") else {
      pieces = Self.pieces(of: option)
      return
    }
    let file = try Descriptor.reading(String(option.dropFirst()))
    let bytes = try file.readAll(atMost: UserFile.bytesMax).filter { $0 != 0x0A && $0 != 0x0D && $0 != 0 }
    pieces = Self.pieces(of: String(decoding: bytes, as: UTF8.self))
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
      case .field(let name): parts[side] += facts.response?.headers.values(for: name).first ?? ""
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

/// What is seen of the wire, for those variables that an answer does not tell.
final class WireWatch: Sendable {
  struct Seen {
    var remote = (address: "", port: 0)
    var local = (address: "", port: 0)
    var headBytesSent: Int64 = 0
    var headBytesReceived: Int64 = 0
    /// Local ports: each connection has one.
    var ports: Set<Int> = []
  }

  private let state = Mutex(Seen())

  var seen: Seen { state.withLock(\.self) }

  /// Another URL is asked.
  func begin() { state.withLock { $0 = Seen() } }

  /// For an engine's `onWire`.
  func saw(_ head: WireHead) {
    state.withLock { seen in
      switch head {
      case .sent(let bytes): seen.headBytesSent += Int64(bytes.count)
      case .received(let bytes): seen.headBytesReceived += Int64(bytes.count)
      case .connection(let remote, let local):
        (seen.remote, seen.local) = (remote, local)
        if local.port > 0 { seen.ports.insert(local.port) }
      }
    }
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

  private static let names = [
    "content_type", "errormsg", "exitcode", "filename_effective", "http_code", "http_connect", "http_version",
    "local_ip", "local_port", "method", "num_connects", "num_headers", "num_redirects", "num_retries",
    "redirect_url", "referer", "remote_ip", "remote_port", "response_code", "scheme", "size_download",
    "size_header", "size_request", "size_upload", "speed_download", "speed_upload", "time_appconnect",
    "time_connect", "time_namelookup", "time_pretransfer", "time_redirect", "time_starttransfer",
    "time_total",
    "url", "url_effective", "urlnum",
  ]

  /// The value of a variable; nil for one that is not known.
  subscript(_ name: String) -> Value? {
    if name.hasPrefix("url.") { return Self.part(name.dropFirst(4), of: url) }
    if name.hasPrefix("urle.") { return Self.part(name.dropFirst(5), of: response?.finalURL ?? url) }
    return answer(name) ?? moved(name) ?? time(name)
  }

  private func answer(_ name: String) -> Value? {
    switch name {
    case "http_code", "response_code": .status(response?.status ?? 0)
    case "http_connect": .status(0)
    case "url": .text(url)
    case "url_effective": .text(response?.finalURL ?? url)
    case "urlnum": .number(Int64(number))
    case "method": .text(method)
    case "scheme": .text(url.lowercased().hasPrefix("https") ? "HTTPS" : "HTTP")
    case "content_type": .text(response?.headers.values(for: "Content-Type").first)
    case "redirect_url": .text(response?.redirectURL)
    case "referer": .text(nil)
    case "filename_effective": .text(fileName)
    case "http_version": .text(response.map { String($0.httpVersion.dropFirst("HTTP/".count)) } ?? "0")
    case "exitcode": .number(Int64(exitStatus.code))
    case "errormsg": .text(error.map { FailureAdvice.text($0) })
    case "remote_ip": .text(wire.remote.address)
    case "remote_port": .number(Int64(wire.remote.port))
    case "local_ip": .text(wire.local.address)
    case "local_port": .number(Int64(wire.local.port))
    default: nil
    }
  }

  private func moved(_ name: String) -> Value? {
    let metrics = response?.metrics
    let (received, sent) = (metrics?.bytesReceived ?? 0, metrics?.bytesSent ?? 0)
    func speed(_ bytes: Int64) -> Value {
      .number(Int64(Double(bytes) / max(metrics?.total.seconds ?? 1, 1e-6)))
    }
    return switch name {
    case "num_redirects": .number(Int64(metrics?.redirects ?? 0))
    case "num_connects": .number(Int64(metrics?.connectionReused == true ? 0 : wire.ports.count))
    case "num_headers": .number(Int64(response?.headers.count ?? 0))
    case "num_retries": .number(Int64(max(0, (metrics?.attempts ?? error?.attempts ?? 1) - 1)))
    case "size_download": .number(received)
    case "size_upload": .number(sent)
    case "size_header": .number(wire.headBytesReceived)
    case "size_request": .number(wire.headBytesSent)
    case "speed_download": speed(received)
    case "speed_upload": speed(sent)
    default: nil
    }
  }

  /// As curl counts them: all from the start.
  private func time(_ name: String) -> Value? {
    let metrics = response?.metrics
    let (lookup, tls) = (metrics?.nameLookup ?? .zero, metrics?.tlsHandshake ?? .zero)
    let connected = lookup + (metrics?.connect ?? .zero)
    return switch name {
    case "time_namelookup": .time(lookup)
    case "time_connect": .time(connected)
    case "time_appconnect": .time(tls == .zero ? .zero : connected + tls)
    case "time_pretransfer": .time(connected + tls)
    case "time_starttransfer": .time(metrics?.firstByte ?? .zero)
    case "time_total": .time(metrics?.total ?? .zero)
    case "time_redirect": .time(.zero)
    default: nil
    }
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

  /// All variables as an object on one line.
  fileprivate var json: String {
    let json = JSONText.object { json in
      for name in Self.names { json.field(name, raw: self[name]?.json ?? []) }
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
