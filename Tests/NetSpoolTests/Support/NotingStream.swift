import NetSpool

@testable import TestSupport

/// A stream that keeps a journal of its calls.
final class NotingStream: DownloadStream {
  private let calls: Journal<String>

  init(_ calls: Journal<String>) { self.calls = calls }

  func open(_ head: ResponseHead, bytesExpected: Int64?) { calls.add("open \(head.status)") }

  func write(_ bytes: RawSpan) -> WriteResult {
    calls.add("write")
    return .accepted
  }

  func close(_ outcome: Result<Void, NetworkError>) {
    switch outcome {
    case .success: calls.add("close")
    case .failure(let error): calls.add("close \(error.code)")
    }
  }
}
