internal import Synchronization

extension NetworkOperation {
  /// Whether it waits for another, directly or not, on whatever queues. Any thread. Costs the operations behind it.
  func waits(for other: NetworkOperation) -> Bool {
    var open = [self]
    var seen: Set<UInt64> = [id]
    while let next = open.popLast() {
      if next === other { return true }
      for operation in next.shared.withLock({ $0.outcome == nil ? $0.dependencies : [] })
      where seen.insert(operation.id).inserted { open.append(operation) }
    }
    return false
  }
}
