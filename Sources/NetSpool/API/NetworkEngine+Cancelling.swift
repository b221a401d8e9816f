extension NetworkEngine {
  /// Ends every operation of this engine with `.cancelled`.
  public func cancelAll() { cancel { _ in true } }

  /// Ends every operation of this engine with this tag.
  public func cancel(tag: String) { cancel { $0.tag == tag } }

  /// Ends every operation of this engine that matches. The closure runs on the loop thread.
  public func cancel(where matches: @escaping @Sendable (NetworkOperation) -> Bool) {
    let context = context
    context.driver.perform { core in
      core.cancelAll { $0.context === context && matches(NetworkOperation($0)) }
    }
  }

  /// Stops accepting, lets what runs end until the deadline, ends the rest with `.engineClosed`.
  ///
  /// Blocks until all final events are delivered, unless called from a closure of NetSpool: then it only
  /// begins. Never needed, and may be called again, from any thread. The queue and other engines go on.
  /// - Parameter seconds: 10 unless told otherwise.
  public func shutDown(deadline seconds: Double = 10) {
    context.shutDown(deadline: seconds, waits: !NetSpool.Delivery.isRunning)
  }
}
