/// A step of a connection while it answers. ``Answer/raw(_:)-([WirePart])`` takes a list of them; every other
/// answer is compiled to one.
public struct WirePart: Sendable {
  enum Step: Sendable {
    case run(ByteRun)
    case pace(Pace?)
    case act(FaultAction)
  }

  let step: Step

  /// Send these bytes, unchanged.
  public static func bytes(_ bytes: [UInt8]) -> WirePart { WirePart(step: .run(ByteRun(bytes))) }

  /// Send this text, unchanged, in UTF-8.
  public static func text(_ text: String) -> WirePart { .bytes(Array(text.utf8)) }

  /// Send `count` bytes of ``BodyPattern`` from `offset` on.
  public static func pattern(_ count: Int, from offset: Int = 0) -> WirePart {
    WirePart(step: .run(ByteRun(pattern: count, from: offset)))
  }

  /// Send these bytes `times` times; nil is for ever, as long as the client reads.
  public static func repeating(_ bytes: [UInt8], times: Int?) -> WirePart {
    WirePart(step: .run(ByteRun(repeating: bytes, times: times)))
  }

  /// Wait.
  public static func pause(_ time: Duration) -> WirePart { WirePart(step: .act(.pause(time))) }

  /// Wait until ``ScriptedOrigin/release(_:)`` names this gate.
  public static func gate(_ name: String) -> WirePart { WirePart(step: .act(.gate(name))) }

  /// Wait until ``ScriptedOrigin/releaseAll()``.
  public static var stall: WirePart { WirePart(step: .act(.stall)) }

  /// From here on send at this pace; nil is as fast as the client reads.
  public static func pace(_ pace: Pace?) -> WirePart { WirePart(step: .pace(pace)) }

  /// Reset the connection (RST), or the stream of HTTP/2 (RST_STREAM): what was sent and not read is lost to the client.
  public static var reset: WirePart { WirePart(step: .act(.reset)) }

  /// Close the connection in order (FIN).
  public static var close: WirePart { WirePart(step: .act(.close)) }
}

/// The speed at which bytes leave.
public struct Pace: Sendable, Equatable {
  /// Bytes written at a time, each time in a write of their own.
  public let size: Int
  /// The time from one write to the next. Zero still makes separate writes.
  public let interval: Duration

  /// Writes of `size` bytes, at least 1.
  public static func slices(of size: Int, every interval: Duration = .zero) -> Pace {
    Pace(size: max(size, 1), interval: interval)
  }

  /// This many bytes a second, in fifty writes or, below fifty bytes, one byte at a time.
  public static func bytesPerSecond(_ rate: Int) -> Pace {
    let size = max(rate / 50, 1)
    return Pace(size: size, interval: .seconds(1) * size / max(rate, 1))
  }
}

/// The point of an exchange at which a fault strikes.
public enum FaultPoint: Sendable, Equatable {
  /// Acts as soon as the connection is accepted. Only an answer that stands first in the queue can do this: it is
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

/// The fault at a ``FaultPoint``.
public enum FaultAction: Sendable, Equatable {
  /// The connection is reset (RST), or the stream of HTTP/2 (RST_STREAM).
  case reset
  /// The connection is closed in order (FIN), whatever was announced; with HTTP/2, all that is on it ends.
  case close
  /// Nothing more is sent until ``ScriptedOrigin/releaseAll()``.
  case stall
  /// Nothing more is sent until ``ScriptedOrigin/release(_:)`` names this gate.
  case gate(String)
  /// Nothing is sent for this long.
  case pause(Duration)
}

/// A fault and its place.
public struct Fault: Sendable, Equatable {
  /// The point at which it strikes.
  public let point: FaultPoint
  /// The fault itself.
  public let action: FaultAction

  /// `action` at `point`.
  public init(_ action: FaultAction, at point: FaultPoint) {
    self.point = point
    self.action = action
  }
}
