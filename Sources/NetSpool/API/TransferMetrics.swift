/// Where the time of an operation went, in seconds, and what it moved, in bytes. Times are those of the last
/// exchange (curl_easy_getinfo(3)); phases that did not happen are 0.
public struct TransferMetrics: Sendable {
  private let core: CoreTransferMetrics
  /// The protocol: `HTTP/1.1`, `HTTP/2`.
  public let httpVersion: String

  init(core: CoreTransferMetrics, httpVersion: String) {
    self.core = core
    self.httpVersion = httpVersion
  }

  /// From `enqueue` to the slot.
  public var queueWait: Double { seconds(core.queueWait) }
  /// Looking the name up.
  public var nameLookup: Double { seconds(core.nameLookup) }
  /// Connecting.
  public var connect: Double { seconds(core.connect) }
  /// The TLS handshake.
  public var tlsHandshake: Double { seconds(core.tlsHandshake) }
  /// From the start to the first byte of the answer.
  public var firstByte: Double { seconds(core.firstByte) }
  /// From the start to the last byte.
  public var total: Double { seconds(core.total) }
  /// Body bytes off the wire, before decoding.
  public var bytesReceived: Int64 { core.bytesReceived }
  /// Body bytes sent.
  public var bytesSent: Int64 { core.bytesSent }
  /// The connection had served another request before.
  public var connectionReused: Bool { core.connectionReused }
  /// Attempts made, the last included.
  public var attempts: Int { core.attempts }
  /// Redirects followed.
  public var redirects: Int { core.redirects }

  private func seconds(_ microseconds: Int64) -> Double { Double(microseconds) / 1e6 }
}
