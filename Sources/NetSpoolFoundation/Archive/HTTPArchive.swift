public import Foundation
public import NetSpool
internal import Synchronization

/// Records what an engine asks and gets, as an HTTP archive (HAR 1.2): for people who look at it with a browser's tools, and
/// for tests that play it again (`ScriptedOrigin.replay(har:)` of NetSpoolTesting).
/// ```swift
/// let archive = HTTPArchive()
/// configuration.onEnd = archive.record
/// // ... and at the end
/// try archive.data().write(to: URL(fileURLWithPath: "shop.har"))
/// ```
/// Secrets are masked, in URLs as in fields. Bodies that went to streams are not recorded, nor are failures without an
/// answer. Everything is kept in memory. Any thread.
public final class HTTPArchive: Sendable {
  private struct Log: Encodable { var log: Content }
  private struct Content: Encodable {
    var version = "1.2"
    var creator = ["name": "NetSpool", "version": "1"]
    var entries: [Entry]
  }
  private struct Entry: Encodable {
    var startedDateTime: String
    var time: Double
    var request: Request
    var response: Response
    var cache: [String: String] = [:]
    var timings: [String: Double]
  }
  private struct Request: Encodable {
    var method: String
    var url: String
    var httpVersion: String
    var headers: [Field]
    var queryString: [Field] = []
    var cookies: [Field] = []
    var headersSize = -1
    var bodySize: Int
  }
  private struct Response: Encodable {
    var status: Int
    var statusText = ""
    var httpVersion: String
    var headers: [Field]
    var cookies: [Field] = []
    var content: Body
    var redirectURL = ""
    var headersSize = -1
    var bodySize: Int
  }
  private struct Field: Encodable { var name: String, value: String }
  private struct Body: Encodable {
    var size: Int
    var mimeType: String
    var text: String
    var encoding: String?
  }

  private let entries = Mutex<[Entry]>([])

  /// Nothing yet.
  public init() {}

  /// The number of exchanges that are recorded.
  public var count: Int { entries.withLock { $0.count } }

  /// The handler for `Configuration.onEnd` of an engine.
  public var record:
    @Sendable (NetworkOperation, Result<NetworkResponse, NetworkError>, NetworkResponse.Metrics) -> Void
  {
    { [self] operation, result, metrics in add(operation.request, result, metrics) }
  }

  /// The archive as JSON. Throws `EncodingError`.
  public func data() throws -> Data {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
    return try encoder.encode(Log(log: Content(entries: entries.withLock { $0 })))
  }

  private func add(
    _ request: NetworkRequest, _ result: Result<NetworkResponse, NetworkError>,
    _ metrics: NetworkResponse.Metrics
  ) {
    let answer: NetworkResponse?
    switch result {
    case .success(let response): answer = response
    case .failure(let error): answer = error.response
    }
    guard let answer else { return }
    let milliseconds =
      Double(metrics.endToEnd.components.seconds) * 1e3
      + Double(metrics.endToEnd.components.attoseconds) / 1e15
    let began = Date().addingTimeInterval(-milliseconds / 1e3)
    let entry = Entry(
      startedDateTime: began.formatted(.iso8601), time: milliseconds,
      request: Request(
        method: request.method.description, url: request.urlMasked, httpVersion: answer.httpVersion,
        headers: Self.fields(request.headers), bodySize: Int(metrics.bytesSent)),
      response: Response(
        status: answer.status, httpVersion: answer.httpVersion, headers: Self.fields(answer.headers),
        content: Self.content(answer), bodySize: Int(metrics.bytesReceived)),
      timings: ["send": 0, "wait": milliseconds, "receive": 0])
    entries.withLock { $0.append(entry) }
  }

  private static func fields(_ headers: NetworkRequest.Headers) -> [Field] {
    headers.map { Field(name: $0.name, value: $0.valueMasked) }
  }

  private static func content(_ answer: NetworkResponse) -> Body {
    let type = answer.headers["Content-Type"] ?? ""
    if let text = String(validating: [UInt8](answer.body), as: UTF8.self) {
      return Body(size: answer.body.count, mimeType: type, text: text)
    }
    return Body(
      size: answer.body.count, mimeType: type, text: answer.data.base64EncodedString(), encoding: "base64")
  }
}
