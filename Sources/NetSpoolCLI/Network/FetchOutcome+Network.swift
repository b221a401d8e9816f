import Glibc
import NetSpool

/// The library's endings as the job counts them.
extension FetchOutcome {
  /// - Parameter after: attempts that were made before this operation.
  init(_ response: NetworkResponse, after attempts: Int = 0) {
    // A 304 or a 300 without a Location is an answer, but not the body that was asked for.
    let isDone = response.status < 300
    self.init(isDone ? .done : .failed(.forGood))
    take(response, after: attempts)
    if !isDone { error = NetworkError.Code.status.description }
  }

  init(_ error: NetworkError, after attempts: Int = 0) {
    let status = error.response?.status
    // A refusal stays one, whatever happened to the page that came with it.
    let isRefusal = error.code != .cancelled && error.code != .sinkFailed && status.map { $0 >= 400 } ?? false
    let code = isRefusal ? NetworkError.Code.status.description : error.code.description
    switch error.code {
    case .cancelled, .engineClosed: self.init(.cancelled)
    default: self.init(.failed(Permanence(code: code, status: status, errno: error.errno)))
    }
    self.attempts = attempts + error.attempts
    if let response = error.response { take(response, after: attempts) }
    self.error = code
    reason = isRefusal ? nil : error.errno.map(Self.systemText) ?? error.reason
  }

  /// A target on this machine that cannot be written, found before anything was sent.
  init(local errno: Int32) {
    self.init(.failed(.local(errno: errno)))
    error = NetworkError.Code.sinkFailed.description
    reason = Self.systemText(errno)
    attempts = 0
  }

  /// The same once its body was looked at.
  func judged(_ verdict: ImageGate.Verdict) -> FetchOutcome {
    var judged = self
    switch verdict {
    case .passed: return self
    case .refused(let reason):
      judged.error = NetworkError.Code.decodeFailed.description
      judged.reason = reason
      judged.ending = .failed(.forGood)
    case .failed(let errno):
      judged.error = NetworkError.Code.sinkFailed.description
      judged.reason = Self.systemText(errno)
      judged.ending = .failed(.local(errno: errno))
    }
    judged.sha256 = nil
    return judged
  }

  private mutating func take(_ response: NetworkResponse, after attempts: Int) {
    let metrics = response.metrics
    status = response.status
    bytes = response.streams.first?.bytes ?? metrics.bytesReceived
    source = Source(response.source)
    sha256 = response.streams.first?.sha256
    self.attempts = attempts + metrics.attempts
    timings = Timings(metrics)
  }

  private static func systemText(_ errno: Int32) -> String { unsafe String(cString: strerror(errno)) }
}

extension FetchOutcome.Source {
  fileprivate init(_ source: NetworkResponse.Source) {
    self =
      switch source {
      case .network: .network
      case .cache: .cache
      case .revalidated: .revalidated
      }
  }
}

extension FetchOutcome.Timings {
  init(_ metrics: NetworkResponse.Metrics) {
    queue = metrics.queueWait.microseconds
    dns = metrics.nameLookup.microseconds
    connect = metrics.connect.microseconds
    tls = metrics.tlsHandshake.microseconds
    firstByte = metrics.firstByte.microseconds
    total = metrics.total.microseconds
  }
}

extension NetworkError {
  /// The system's number, where the system refused something.
  var errno: Int32? {
    if case .errno(let number) = underlying { number } else { nil }
  }
}
