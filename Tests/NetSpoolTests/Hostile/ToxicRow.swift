import NetSpool
import NetSpoolTesting
import Testing

/// A toxic, and how each kind of operation must end through it.
struct ToxicRow: Sendable, CustomTestStringConvertible {
  enum Ending: Sendable {
    case completes
    /// One of these: which of them is a race between two packets.
    case fails([NetworkError.Code], reason: String? = nil)

    func fits(_ ending: Result<NetworkResponse, NetworkError>) -> Bool {
      switch (self, ending) {
      case (.completes, .success): true
      case (.fails(let codes, let reason), .failure(let error)):
        codes.contains(error.code) && (reason == nil || error.reason == reason)
      default: false
      }
    }

    static let empty = fails([.protocolViolation, .connectionLost])
    static let late = fails([.timedOut], reason: "headers")
    static let lost = fails([.connectionLost])
    static let reset = fails([.connectionLost, .connectFailed])
  }

  let name: String
  /// nil: the proxy is down.
  let toxic: Toxic?
  let direction: FaultProxy.Direction
  /// A short answer to a GET or HEAD.
  let short: Ending
  /// A long answer.
  let long: Ending
  /// A long request.
  let upload: Ending

  var testDescription: String { name }

  static let all: [ToxicRow] = [
    row("latency", .latency(.milliseconds(20), jitter: .milliseconds(10)), .downstream, .completes),
    row("latency upstream", .latency(.milliseconds(20), jitter: .milliseconds(10)), .upstream, .completes),
    row("bandwidth", .bandwidth(bytesPerSecond: 2_000_000), .downstream, .completes),
    row("bandwidth upstream", .bandwidth(bytesPerSecond: 2_000_000), .upstream, .completes),
    row("slow close", .slowClose(.milliseconds(100)), .downstream, .completes),
    row("slow close upstream", .slowClose(.milliseconds(100)), .upstream, .completes),
    row("slices of a byte", .slicer(bytes: 1), .downstream, .completes),
    row("slices", .slicer(bytes: 700, variation: 600, pause: .microseconds(100)), .downstream, .completes),
    row("slices upstream", .slicer(bytes: 700, variation: 600), .upstream, .completes),
    row("silence", .timeout(nil), .downstream, .late),
    row("silence upstream", .timeout(nil), .upstream, .late),
    row("silence, then the end", .timeout(.milliseconds(50)), .downstream, .empty),
    row("silence upstream, then the end", .timeout(.milliseconds(50)), .upstream, .empty),
    row("reset at once", .reset(), .downstream, .reset),
    row("reset after a while", .reset(after: .milliseconds(30)), .upstream, .completes, held: .reset),
    row("reset in the head", .reset(atByte: 30), .downstream, .lost),
    row("reset in the body", .reset(atByte: 5_000), .downstream, .completes, long: .lost),
    row("reset in the request's head", .reset(atByte: 30), .upstream, .reset),
    row("reset in the request's body", .reset(atByte: 5_000), .upstream, .completes, upload: .reset),
    row("end at once", .limitData(bytes: 0), .downstream, .empty),
    row("end in the head", .limitData(bytes: 30), .downstream, .fails([.truncatedHeaders])),
    row("end in the body", .limitData(bytes: 5_000), .downstream, .completes, long: .fails([.bodyTruncated])),
    row("end in the request's head", .limitData(bytes: 30), .upstream, .empty),
    row("end in the request's body", .limitData(bytes: 5_000), .upstream, .completes, upload: .empty),
    row("down", nil, .downstream, .fails([.connectFailed], reason: "refused")),
  ]

  private static func row(
    _ name: String, _ toxic: Toxic?, _ direction: FaultProxy.Direction, _ every: Ending, long: Ending? = nil,
    upload: Ending? = nil, held: Ending? = nil
  ) -> ToxicRow {
    ToxicRow(
      name: name, toxic: toxic, direction: direction, short: held ?? every, long: held ?? long ?? every,
      upload: held ?? upload ?? every)
  }

  /// Only a limit of time ends what goes through it.
  var isSilent: Bool { name == "silence" || name == "silence upstream" }

  /// The reset comes while the origin still holds its answers back.
  var isHeld: Bool { name == "reset after a while" }
}
