import NetSpool
import NetSpoolTesting

@testable import TestSupport

/// What an origin's answers may travel by.
enum Carrier: String, CaseIterable, Sendable {
  case plain
  case tls
  case http2

  var version: String { self == .http2 ? "HTTP/2" : "HTTP/1.1" }

  /// An origin, and a client that trusts it.
  func pair(
    _ change: (inout NetworkEngine.Configuration) -> Void = { _ in }
  ) throws -> (ScriptedOrigin, Client) {
    let origin = try makeOrigin()
    return (origin, try Client(origin, change))
  }

  private func makeOrigin() throws -> ScriptedOrigin {
    switch self {
    case .plain: try ScriptedOrigin()
    case .tls: try ScriptedOrigin(tls: .selfSigned(offersHTTP2: false))
    case .http2: try ScriptedOrigin(tls: .selfSigned)
    }
  }
}

/// An engine that trusts an origin, on a queue of its own.
struct Client {
  let engine: NetworkEngine
  private let folder: TestFolder

  init(_ origin: ScriptedOrigin, _ change: (inout NetworkEngine.Configuration) -> Void = { _ in }) throws {
    folder = try TestFolder()
    var configuration = NetworkEngine.Configuration()
    configuration.port = origin.port
    configuration.queue = try NetworkQueue()
    configuration.retry = .none
    // It is the origin that is looked at, however slow a sanitizer makes both.
    (configuration.timeouts.connect, configuration.timeouts.headers) = (.patience, .patience)
    configuration.timeouts.total = .patience
    if let authority = origin.certificateAuthority {
      configuration.tls.caFile = try folder.write("authority.pem", Array(authority.utf8))
    } else {
      configuration.scheme = .http
    }
    change(&configuration)
    engine = try NetworkEngine(host: "127.0.0.1", configuration: configuration)
  }

  func get(_ path: String) async throws -> NetworkResponse { try await engine.get(path) }

  /// The code of the error that it must end with.
  func failure(_ path: String) async -> NetworkError.Code? {
    do {
      _ = try await get(path)
      return nil
    } catch { return (error as? NetworkError)?.code }
  }
}
