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
    /// Of the body that was written.
    var bytes: Int64 = 0
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
      case .variable(let name): parts[side] += facts[name] ?? ""
      }
    }
    return (parts[0], parts[1])
  }

  /// The variables that stay empty because nothing is known of them, each once.
  var unknown: [String] {
    let names = Set(pieces.compactMap { if case .variable(let name) = $0 { name } else { nil } })
    return names.filter { !["stderr", "stdout"].contains($0) && !Facts.knows($0) }.sorted()
  }

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
  /// Whether a variable has a value at all.
  static func knows(_ name: String) -> Bool { Self()[name] != nil || times.contains(name) }

  private static let times: Set = [
    "time_namelookup", "time_connect", "time_appconnect", "time_pretransfer", "time_starttransfer",
    "time_total",
    "time_redirect",
  ]

  /// The value of a variable; nil for one that is not known, which curl leaves empty, too.
  subscript(_ name: String) -> String? {
    let metrics = response?.metrics
    switch name {
    case "http_code", "response_code": return HumanText.padded(response?.status ?? 0, to: 3, with: "0")
    case "url": return url
    case "url_effective": return response?.finalURL ?? url
    case "urlnum": return "\(number)"
    case "method": return method
    case "scheme": return url.lowercased().hasPrefix("https") ? "HTTPS" : "HTTP"
    case "content_type": return response?.headers.values(for: "Content-Type").first ?? ""
    case "redirect_url": return response?.headers.values(for: "Location").first ?? ""
    case "filename_effective": return fileName ?? ""
    case "http_version": return response.map { String($0.httpVersion.dropFirst("HTTP/".count)) } ?? "0"
    case "num_redirects": return "\(metrics?.redirects ?? 0)"
    case "num_connects": return metrics.map { $0.connectionReused ? "0" : "1" } ?? "0"
    case "num_headers": return "\(response?.headers.count ?? 0)"
    case "num_retries": return "\(max(0, (metrics?.attempts ?? 1) - 1))"
    case "size_download": return "\(bytes)"
    case "size_upload": return "\(metrics?.bytesSent ?? 0)"
    case "speed_download": return "\(Int64(Double(bytes) / max(metrics?.total.seconds ?? 1, 1e-6)))"
    case "exitcode": return "\(exitStatus.code)"
    case "errormsg": return error.map { "\($0)" } ?? ""
    default: return metrics.flatMap { Self.time(name, $0) }
    }
  }

  /// In seconds, as curl counts them: all from the start.
  private static func time(_ name: String, _ metrics: NetworkResponse.Metrics) -> String? {
    let (lookup, connect, tls) = (metrics.nameLookup, metrics.connect, metrics.tlsHandshake)
    switch name {
    case "time_namelookup": return seconds(lookup)
    case "time_connect": return seconds(lookup + connect)
    case "time_appconnect": return seconds(tls == .zero ? .zero : lookup + connect + tls)
    case "time_pretransfer": return seconds(lookup + connect + tls)
    case "time_starttransfer": return seconds(metrics.firstByte)
    case "time_total": return seconds(metrics.total)
    case "time_redirect": return seconds(.zero)
    default: return nil
    }
  }

  private static func seconds(_ time: Duration) -> String {
    let micro = time.microseconds
    return "\(micro / 1_000_000).\(HumanText.padded(Int(micro % 1_000_000), to: 6, with: "0"))"
  }
}
