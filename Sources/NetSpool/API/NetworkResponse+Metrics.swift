extension NetworkResponse {
  /// Where the time of an operation went, and what it moved, in bytes. Times are those of the last exchange
  /// (curl_easy_getinfo(3)); phases that did not happen are zero.
  public struct Metrics: Sendable {
    var version = ResponseHead.Version.http11
    /// From `enqueue` to the slot, in microseconds, as all that follow.
    var queueWaitTime: Microseconds = 0
    var nameLookupTime: Microseconds = 0
    var connectTime: Microseconds = 0
    var tlsHandshakeTime: Microseconds = 0
    var firstByteTime: Microseconds = 0
    var totalTime: Microseconds = 0
    var endToEndTime: Microseconds = 0
    /// Body bytes off the wire, before decoding.
    public internal(set) var bytesReceived: Int64 = 0
    /// Body bytes sent.
    public internal(set) var bytesSent: Int64 = 0
    /// The connection had served another request before.
    public internal(set) var connectionReused = false
    /// Attempts made, the last included.
    public internal(set) var attempts = 1
    /// Redirects followed.
    public internal(set) var redirects = 0

    init() {}

    /// The protocol: `HTTP/1.1`, `HTTP/2`.
    public var httpVersion: String { version.name }
    /// From `enqueue` to the slot.
    public var queueWait: Duration { .microseconds(queueWaitTime) }
    /// Looking the name up.
    public var nameLookup: Duration { .microseconds(nameLookupTime) }
    /// Connecting.
    public var connect: Duration { .microseconds(connectTime) }
    /// The TLS handshake.
    public var tlsHandshake: Duration { .microseconds(tlsHandshakeTime) }
    /// From the start to the first byte of the answer.
    public var firstByte: Duration { .microseconds(firstByteTime) }
    /// From the start to the last byte.
    public var total: Duration { .microseconds(totalTime) }
    /// From `enqueue` to the end, with all that came between: waiting, redirects, repetitions. Zero for an answer from the
    /// cache that `enqueue` itself found.
    public var endToEnd: Duration { .microseconds(endToEndTime) }
  }
}
