extension NetworkOperation {
  /// Ends it with `.cancelled`, unless it has ended. Its slot is free within 50 ms. Others that share its
  /// exchange are not disturbed. One that was never enqueued ends as well.
  public func cancel() { core.requestCancel() }

  /// Stops reading and frees the slot. An exchange shared with others goes on. The origin may give up on a
  /// long pause.
  public func pause() { core.context.driver.perform { [core] in $0.pause(core) } }

  /// Goes on where `pause` stopped, as soon as there is a slot.
  public func resume() { core.context.driver.perform { [core] in $0.resume(core) } }
}
