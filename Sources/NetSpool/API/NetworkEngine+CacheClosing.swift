extension NetworkEngine {
  /// Waits until the disk has all that was stored and removed so far. Not on the loop thread.
  public func flushCache() { cache?.store.flush() }

  /// Writes what waits and lets go of the store; afterwards nothing is found and nothing is stored. For programs
  /// that are about to exit, after the queue was closed. Not on the loop thread.
  public func closeCache() { cache?.store.close() }
}
