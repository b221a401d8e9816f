import Foundation
import HTTPTypes
import NetSpool
import OpenAPIRuntime

/// Sends what a client of swift-openapi-generator asks for through an engine: its queue, cache, retries and limits count.
public struct NetSpoolTransport: ClientTransport {
  /// The engine; its host does not matter, because the client says where each request goes.
  public var engine: NetworkEngine

  /// A body of known length up to this is collected first, so that the engine may repeat the request; others are streamed.
  public var collectedBytesMax = 1 << 20

  /// A transport that sends through this engine.
  public init(engine: NetworkEngine) { self.engine = engine }

  /// Returns when the head of the answer is there; its body is read from the network as the client reads it.
  public func send(_ request: HTTPRequest, body: HTTPBody?, baseURL: URL, operationID: String) async throws
    -> (
      HTTPResponse, HTTPBody?
    )
  {
    var sent = NetworkRequest(
      url: try Self.url(request, baseURL), method: .init(request.method.rawValue),
      headers: .init(request.headerFields))
    if let body { sent.body = try await self.body(body) }
    sent.tag = operationID
    do {
      let answer = try await engine.stream(sent)
      let length = answer.bytesExpected.map { HTTPBody.Length.known($0) } ?? .unknown
      let head = HTTPResponse(status: .init(code: answer.status), headerFields: HTTPFields(answer.headers))
      let body = HTTPBody(answer.body, length: length, iterationBehavior: .single)
      return (head, request.method == .head ? nil : body)
    } catch let error as NetworkError {
      // A status of 400 or more is for the client's own `switch`; all else is an error.
      guard let answer = error.response, answer.status >= 400,
        error.code == .status || error.code == .authenticationFailed
      else { throw error }
      return (answer.httpResponse, request.method == .head ? nil : HTTPBody(answer.body))
    }
  }

  /// The path goes behind the base URL's own, as with the other transports.
  private static func url(_ request: HTTPRequest, _ baseURL: URL) throws -> String {
    guard var whole = URLComponents(string: baseURL.absoluteString),
      let own = URLComponents(string: request.path ?? "")
    else { throw NetworkError(code: .invalidURL, reason: "\(request.path ?? "") behind \(baseURL)") }
    whole.percentEncodedPath += own.percentEncodedPath
    whole.percentEncodedQuery = own.percentEncodedQuery
    guard let url = whole.string else { throw NetworkError(code: .invalidURL, reason: "\(whole)") }
    return url
  }

  private func body(_ body: HTTPBody) async throws -> NetworkRequest.Body {
    switch body.length {
    case .known(let count) where count <= collectedBytesMax:
      .bytes(try await [UInt8](collecting: body, upTo: collectedBytesMax))
    case .known(let count): .sequence(body.map { Array($0) }, length: count)
    case .unknown: .sequence(body.map { Array($0) })
    }
  }
}
