/// Holds someone else's source to the length it declared: libcurl would wait for missing bytes and drop
/// extra ones without a word.
final class LengthCheckedSource: BodySource {
  private let base: any BodySource
  private let declared: Int64?
  private var sent: Int64 = 0

  init(_ base: any BodySource, declared: Int64?) {
    self.base = base
    self.declared = declared
  }

  var length: Int64? { declared }
  var canRewind: Bool { base.canRewind }
  func open() throws(NetworkError) { try base.open() }
  func close() { base.close() }

  func rewind() throws(NetworkError) {
    try base.rewind()
    sent = 0
  }

  func read(into buffer: UnsafeMutableRawBufferPointer) throws(NetworkError) -> BodyRead {
    let read = unsafe try base.read(into: buffer)
    guard let declared else { return read }
    switch read {
    case .pause: return .pause
    case .end:
      guard sent == declared else { throw mismatch(got: "\(sent)", declared) }
      return .end
    case .bytes(let count):
      sent += Int64(count)
      guard sent <= declared else { throw mismatch(got: "at least \(sent)", declared) }
      if sent == declared { try probeForMore(declared) }
      return .bytes(count)
    }
  }

  /// With a known length libcurl asks no further after the last byte, so extra bytes are looked for
  /// before that byte is handed over. A source that pauses instead of ending has kept its promise.
  private func probeForMore(_ declared: Int64) throws(NetworkError) {
    var extra: UInt8 = 0
    let read = unsafe try withUnsafeMutableBytes(of: &extra) { probe throws(NetworkError) in
      unsafe try base.read(into: probe)
    }
    if case .bytes = read { throw mismatch(got: "more than \(declared)", declared) }
  }

  private func mismatch(got: String, _ declared: Int64) -> NetworkError {
    NetworkError(.uploadLengthMismatch, reason: "got \(got), declared \(declared)")
  }
}
