extension NetworkOperation {
  /// Ends it with `.cancelled`, unless it has ended. Its slot is free within 50 ms. Others that share its
  /// exchange are not disturbed. One that was never enqueued ends as well.
  public func cancel() { requestCancel() }

  /// Stops reading and frees the slot; before `enqueue`, behind others and between two attempts it keeps it from starting.
  /// An exchange that others wait for goes on. The origin may give up on a long pause.
  public func pause() { engine.driver.perform { [self] in $0.pause(self) } }

  /// Goes on where `pause` stopped, as soon as there is a slot.
  public func resume() { engine.driver.perform { [self] in $0.resume(self) } }
}
