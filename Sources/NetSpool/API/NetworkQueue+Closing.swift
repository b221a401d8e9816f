extension NetworkQueue {
  /// Ends the loop thread and the workers and waits for them; what still runs ends with `.engineClosed` and its
  /// unfinished files are removed. For programs that are about to exit. Answers how many handles of the loop
  /// were left open: none.
  @discardableResult
  package func close() -> Int { driver.close() }
}
