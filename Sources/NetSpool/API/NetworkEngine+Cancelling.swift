internal import Dispatch

extension NetworkEngine {
  /// Ends every operation of this engine with `.cancelled`.
  public func cancelAll() { cancel { _ in true } }

  /// Ends every operation of this engine with this tag.
  public func cancel(tag: String) { cancel { $0.tag == tag } }

  /// Ends every operation of this engine that matches. The closure runs on the loop thread.
  public func cancel(where matches: @escaping @Sendable (NetworkOperation) -> Bool) {
    driver.perform { [self] core in core.cancelAll { $0.engine === self && matches($0) } }
  }

  /// Stops accepting, lets what runs end until the deadline, ends the rest with `.engineClosed`; freezable requests stay
  /// frozen. Returns when all final events are delivered.
  ///
  /// Never needed, and may be called again, from any thread. The queue and other engines go on.
  /// - Parameter deadline: 10 seconds unless told otherwise.
  public func shutDown(deadline: Duration = .seconds(10)) async {
    await withCheckedContinuation { continuation in
      shutDown(deadline: deadline) { continuation.resume() }
    }
  }

  /// The same for scripts: blocks, unless it is called from a closure of NetSpool, where it only begins.
  public func shutDownAndWait(deadline: Duration = .seconds(10)) {
    let done = DispatchSemaphore(value: 0)
    shutDown(deadline: deadline) { done.signal() }
    if !NetSpool.Delivery.isRunning { done.wait() }
  }
}
