/// One sink of a fan-out, and what it is behind.
final class SinkBranch {
  let id: UInt64
  private let sink: any Sink
  private var backlog: [UInt8] = []
  private var taken = 0
  private(set) var isEnded = false
  private(set) var isFinishing = false
  let onFailure: (SinkFailure) -> Void

  init(_ sink: any Sink, id: UInt64, onFailure: @escaping (SinkFailure) -> Void) {
    self.sink = sink
    self.id = id
    self.onFailure = onFailure
  }

  var report: NetworkResponse.StreamReport { sink.report }
  var backlogBytes: Int { backlog.count - taken }

  func open(_ head: ResponseHead, bytesExpected: Int64?, ready: @escaping () -> Void) throws(SinkFailure) {
    try sink.open(head, bytesExpected: bytesExpected, ready: ready)
  }

  func write(_ bytes: RawSpan) throws(SinkFailure) {
    var taken = 0
    if backlogBytes == 0 { taken = try sink.write(bytes) }
    if taken < bytes.byteCount { keep(bytes, from: taken) }
  }

  /// What was taken is cut off once it is the greater part, so the array stays within twice the backlog.
  private func keep(_ bytes: RawSpan, from start: Int) {
    if taken * 2 >= backlog.count {
      backlog.removeFirst(taken)
      taken = 0
    }
    backlog.append(bytes.extracting(start..<bytes.byteCount))
  }

  /// Offers the backlog again; true when none is left.
  func flush() throws(SinkFailure) -> Bool {
    guard backlogBytes > 0 else { return true }
    taken += try offer(backlog)
    guard backlogBytes == 0 else { return false }
    backlog.removeAll(keepingCapacity: true)
    taken = 0
    return true
  }

  private func offer(_ kept: [UInt8]) throws(SinkFailure) -> Int {
    try sink.write(kept.rawBytes.extracting(taken..<kept.count))
  }

  /// Publishes or abandons; true when that is over. Asked again after `ready` while it is not.
  func finish(_ failure: NetworkError?) throws(SinkFailure) -> Bool {
    isFinishing = true
    if failure != nil {
      backlog = []
      taken = 0
    }
    isEnded = true  // whatever happens below, it is over; `.pending` alone keeps it open
    isEnded = try sink.finish(failure) == .done
    return isEnded
  }
}
