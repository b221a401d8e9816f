/// Where in an exchange a fault strikes.
public enum FaultPoint: Sendable, Equatable {
  /// As soon as the connection is accepted. Only an answer that stands first in the queue can do this: it is
  /// taken from the queue by the connection, not by a request.
  case accept
  /// After this many bytes of the request's body have come in. Only a fixed answer can do this, from a route or
  /// the queue; an answer made by a closure exists only after the body.
  case requestBody(Int)
  /// After the whole request was read, before the first byte of the answer.
  case requestRead
  /// After this many bytes of the answer's status line and header fields.
  case head(Int)
  /// After this many bytes behind the answer's head, transfer coding included.
  case body(Int)
}

/// What goes wrong at a ``FaultPoint``.
public enum FaultAction: Sendable, Equatable {
  /// The connection is reset (RST).
  case reset
  /// The connection is closed in order (FIN), whatever was announced.
  case close
  /// Nothing more is sent until ``ScriptedOrigin/releaseAll()``.
  case stall
  /// Nothing more is sent until ``ScriptedOrigin/release(_:)`` names this gate.
  case gate(String)
  /// Nothing is sent for this long.
  case pause(Duration)

  var step: WirePart.Step {
    switch self {
    case .reset: .reset
    case .close: .close
    case .stall: .stall
    case .gate(let name): .gate(name)
    case .pause(let time): .pause(time)
    }
  }
}

/// A fault and its place.
public struct Fault: Sendable, Equatable {
  /// Where it strikes.
  public let point: FaultPoint
  /// What happens there.
  public let action: FaultAction

  /// `action` at `point`.
  public init(_ action: FaultAction, at point: FaultPoint) {
    self.point = point
    self.action = action
  }
}
