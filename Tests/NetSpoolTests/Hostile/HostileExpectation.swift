import NetSpool
import NetSpoolTesting
import Testing

/// What a user sees of one hostile behaviour.
struct HostileExpectation: Sendable {
  enum Ending: Sendable {
    /// A completion with this status and so many body bytes.
    case completes(Int, bytes: Int)
    /// An error of this code, its reason beginning so.
    case fails(NetworkError.Code, String)
  }

  let name: String
  var ending: Ending
  /// The next request comes on another connection: what is left on this one is anybody's guess.
  var endsConnection = false
  /// An error only because of this limit of time.
  var isLate = false

  static func ok(_ name: String, _ bytes: Int = 5, status: Int = 200) -> Self {
    Self(name: name, ending: .completes(status, bytes: bytes))
  }

  static func bad(_ name: String, _ code: NetworkError.Code, _ reason: String = "") -> Self {
    Self(name: name, ending: .fails(code, reason), endsConnection: true)
  }

  static func late(_ name: String, _ reason: String) -> Self {
    Self(name: name, ending: .fails(.timedOut, reason), endsConnection: true, isLate: true)
  }

  func closing() -> Self {
    var copy = self
    copy.endsConnection = true
    return copy
  }

  /// An answer refused for what it says: its bytes are in order, so the connection may go on.
  func staying() -> Self {
    var copy = self
    copy.endsConnection = false
    return copy
  }

  var behaviour: HostileBehaviour { HostileCatalogue.named(name)! }
}

extension HostileExpectation: CustomTestStringConvertible {
  var testDescription: String { name }
}
