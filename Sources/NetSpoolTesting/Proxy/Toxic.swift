/// What a ``FaultProxy`` does to the bytes of one direction of a connection. Several of them add up.
///
/// The names are those that Toxiproxy has made common; its eighth, "down", is ``FaultProxy/stop()``.
public struct Toxic: Sendable, Hashable, CustomStringConvertible {
  enum Kind: Sendable, Hashable {
    case latency(Duration, jitter: Duration)
    case bandwidth(bytesPerSecond: Int)
    case slowClose(Duration)
    case timeout(Duration?)
    case reset(after: Duration)
    case resetAt(bytes: Int)
    case slicer(bytes: Int, variation: Int, pause: Duration)
    case limitData(bytes: Int)
  }

  let kind: Kind
  private(set) var percent = 100

  private init(_ kind: Kind) { self.kind = kind }

  /// Keeps every piece of data for this long, more or less by a random time up to `jitter`. The order stays.
  public static func latency(_ time: Duration, jitter: Duration = .zero) -> Toxic {
    Toxic(.latency(time, jitter: jitter))
  }

  /// Lets so many bytes through in a second, at least one.
  public static func bandwidth(bytesPerSecond: Int) -> Toxic {
    Toxic(.bandwidth(bytesPerSecond: max(bytesPerSecond, 1)))
  }

  /// Passes the end of the direction on only after this time.
  public static func slowClose(_ time: Duration) -> Toxic { Toxic(.slowClose(time)) }

  /// Lets nothing through, not even the end, and closes the connection after this time; with nil it never does. What
  /// has come meanwhile goes on when the toxic is taken away. A client that ends its side ends the connection. The
  /// time counts from the connection's beginning or from when the toxics were set.
  public static func timeout(_ time: Duration?) -> Toxic { Toxic(.timeout(time)) }

  /// Resets the connection, on both sides, after this time. It counts from the connection's beginning or from
  /// when the toxics were set.
  public static func reset(after time: Duration = .zero) -> Toxic { Toxic(.reset(after: time)) }

  /// Resets the connection when so many bytes have gone through this direction since its beginning.
  public static func reset(atByte count: Int) -> Toxic { Toxic(.resetAt(bytes: max(count, 0))) }

  /// Sends slices of `bytes` bytes, more or less by a random number up to `variation`, each a write of its own, and
  /// pauses between them.
  public static func slicer(bytes: Int, variation: Int = 0, pause: Duration = .zero) -> Toxic {
    Toxic(.slicer(bytes: max(bytes, 1), variation: max(variation, 0), pause: pause))
  }

  /// Closes the connection when so many bytes have gone through this direction since its beginning.
  public static func limitData(bytes: Int) -> Toxic { Toxic(.limitData(bytes: max(bytes, 0))) }

  /// The same for so many of a hundred connections only. Which ones, the proxy's seed says.
  public func hitting(percent: Int) -> Toxic {
    var copy = self
    copy.percent = percent
    return copy
  }

  /// For the names of tests.
  public var description: String { percent == 100 ? "\(kind)" : "\(kind) at \(percent) %" }
}
