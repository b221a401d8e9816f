import NetSpool
import NetSpoolTesting
import Testing

/// How an operation ends that meets a hostile behaviour.
enum HostileEnding: Sendable {
  /// A completion with this status and so many body bytes.
  case completes(Int, bytes: Int)
  /// An error of this code, its reason beginning so.
  case fails(NetworkError.Code, String)

  func check(_ result: Ending) {
    switch (result, self) {
    case (.success(let response), .completes(let status, let bytes)):
      #expect(response.status == status)
      #expect(response.body.count == bytes)
    case (.failure(let error), .fails(let code, let reason)):
      #expect(error.code == code, "\(error)")
      #expect((error.reason ?? "").hasPrefix(reason), "\(error)")
    case (.success(let response), .fails(let code, _)):
      Issue.record("\(response.status), \(response.body.count) bytes, instead of \(code)")
    case (.failure(let error), .completes(let status, _)):
      Issue.record("\(error) instead of \(status)")
    }
  }
}

extension HostileEnding {
  /// Of the limits of time, only the one that is meant.
  var limits: NetworkRequest.Timeouts {
    if case .fails(_, let limit) = self, limit.hasPrefix("stall") { return .init(stall: .seconds(0.3)) }
    return .init(headers: .seconds(0.3))
  }
}

/// What a user sees of one hostile behaviour.
struct HostileExpectation: Sendable, CustomTestStringConvertible {
  let name: String
  let ending: HostileEnding
  /// The next request comes on another connection: what is left on this one is anybody's guess.
  var endsConnection = false
  /// An error only because of this limit of time.
  var isLate = false

  var testDescription: String { name }

  static func ok(_ name: String, _ bytes: Int = 5, status: Int = 200) -> Self {
    Self(name: name, ending: .completes(status, bytes: bytes))
  }

  static func bad(_ name: String, _ code: NetworkError.Code, _ reason: String = "") -> Self {
    Self(name: name, ending: .fails(code, reason), endsConnection: true)
  }

  static func late(_ name: String, _ reason: String) -> Self {
    Self(name: name, ending: .fails(.timedOut, reason), endsConnection: true, isLate: true)
  }

  func closing(_ endsConnection: Bool = true) -> Self {
    Self(name: name, ending: ending, endsConnection: endsConnection, isLate: isLate)
  }

  /// An answer refused for what it says: its bytes are in order, so the connection may go on.
  func staying() -> Self { closing(false) }

  var behaviour: HostileBehaviour { HostileCatalogue.named(name)! }
}
