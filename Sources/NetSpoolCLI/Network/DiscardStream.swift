import NetSpool

/// Takes a body and keeps nothing of it; one for all operations.
struct DiscardStream: DownloadStream {
  static let shared = DiscardStream()

  var wantsDigest: Bool { false }
  func open(_ head: ResponseHead, bytesExpected: Int64?) {}
  func write(_ bytes: RawSpan) -> WriteResult { .accepted }
  func close(_ outcome: Result<Void, NetworkError>) {}
}
