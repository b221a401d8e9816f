import NetSpool

/// An exchange as an entry of an HTTP archive (HAR 1.2). Secrets are masked in URLs and fields, and bodies left out.
struct HAREntry {
  let request: NetworkRequest
  /// The engine's fields, which the request's own replace.
  let defaults: NetworkRequest.Headers
  let result: Result<NetworkResponse, NetworkError>
  let metrics: NetworkResponse.Metrics
  /// When it ended: the time since 1970.
  let ended: Duration
  /// The heads that were received on the way to the answer, and its own.
  let heads: [[String]]

  static func heads(_ bytes: [UInt8]) -> [[String]] {
    var text = WireText()
    return text.lines(of: bytes).split(separator: "").map(Array.init)
  }

  private var answer: NetworkResponse? {
    switch result {
    case .success(let response): response
    case .failure(let error): error.response
    }
  }

  /// Cut short by the user: there is nothing to tell.
  var isWorthKeeping: Bool {
    guard case .failure(let error) = result else { return true }
    return answer != nil || error.code != .cancelled && error.code != .engineClosed
  }

  var json: [UInt8] {
    let phases = Phases(metrics)
    return JSONText.object { json in
      json.field("startedDateTime", WallTime.text(at: ended - .microseconds(phases.total)))
      json.field("time", thousandths: phases.total)
      writeRequest(to: &json)
      writeResponse(to: &json)
      json.object("cache") { _ in }
      json.object("timings") { json in
        json.field("blocked", thousandths: phases.blocked)
        json.field("dns", thousandths: phases.dns)
        json.field("connect", thousandths: phases.connect)
        json.field("ssl", thousandths: phases.tls)
        json.field("send", 0)
        json.field("wait", thousandths: phases.wait)
        json.field("receive", thousandths: phases.receive)
      }
    }
  }

  private func writeRequest(to json: inout JSONText) {
    var headers = request.headers
    for field in defaults where !headers.contains(field.name) { headers.add(field.name, field.value) }
    let url = request.urlMasked
    json.object("request") { json in
      json.field("method", "\(request.method)")
      json.field("url", url)
      json.field("httpVersion", answer?.httpVersion ?? "")
      json.array("cookies") { _ in }
      Self.write(headers, to: &json)
      json.array("queryString") { json in
        for (name, value) in Self.query(url) { Self.write(name, value, to: &json) }
      }
      json.field("headersSize", -1)
      json.field("bodySize", metrics.bytesSent)
    }
  }

  private func writeResponse(to json: inout JSONText) {
    json.object("response") { json in
      json.field("status", answer?.status ?? 0)
      let status = heads.last?.first?.split(separator: " ", maxSplits: 2) ?? []
      json.field("statusText", status.count > 2 ? String(status[2]) : "")
      json.field("httpVersion", answer?.httpVersion ?? "")
      json.array("cookies") { _ in }
      Self.write(answer?.headers ?? NetworkRequest.Headers(), to: &json)
      json.object("content") { json in
        json.field("size", answer.map { $0.streams.first?.bytes ?? Int64($0.body.count) } ?? 0)
        json.field("mimeType", answer?.headers["Content-Type"] ?? "")
      }
      json.field("redirectURL", "")
      json.field("headersSize", -1)
      json.field("bodySize", metrics.bytesReceived)
      if let answer, answer.finalURL != request.url {
        json.field("_finalURL", NetworkRequest(url: answer.finalURL).urlMasked)
      }
      if heads.count > 1 {
        json.array("_heads") { json in for head in heads { json.element(head.joined(separator: "\n")) } }
      }
      if let answer { json.field("_source", answer.source.rawValue) }
      if case .failure(let error) = result { json.field("_error", error.code.description) }
    }
  }

  private static func write(_ headers: NetworkRequest.Headers, to json: inout JSONText) {
    json.array("headers") { json in
      for field in headers { write(field.name, field.valueMasked, to: &json) }
    }
  }

  private static func write(_ name: String, _ value: String, to json: inout JSONText) {
    json.element { json in
      json.field("name", name)
      json.field("value", value)
    }
  }

  /// As descriptions have it.
  static func masked(_ name: String, _ value: String) -> String {
    let field: NetworkRequest.Headers = [name: value]
    return field.map(\.valueMasked).joined()
  }

  private static func query(_ url: String) -> [(String, String)] {
    (URLText.behind("?", url) ?? "").split(separator: "&").map { pair in
      let parts = pair.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
      return (String(parts[0]), parts.count > 1 ? String(parts[1]) : "")
    }
  }

  /// Microseconds that add up to the whole.
  struct Phases: Equatable {
    var blocked: Int64 = 0
    var dns: Int64 = 0
    /// With the handshake, as the format has it.
    var connect: Int64 = 0
    var tls: Int64 = 0
    var wait: Int64 = 0
    var receive: Int64 = 0
    var total: Int64 { blocked + dns + connect + wait + receive }

    /// - Parameter metrics: its times for the first and the last byte are from the start of the attempt.
    init(_ metrics: NetworkResponse.Metrics) {
      let times = FetchOutcome.Timings(metrics)
      (dns, tls) = (times.dns, times.tls)
      connect = times.connect + times.tls
      wait = max(0, times.firstByte - dns - connect)
      receive = max(0, times.total - max(times.firstByte, dns + connect))
      // What came between as well: other attempts, redirects.
      blocked = max(times.queue, metrics.endToEnd.microseconds - dns - connect - wait - receive)
    }
  }
}
