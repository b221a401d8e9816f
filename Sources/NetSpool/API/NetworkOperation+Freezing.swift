extension NetworkOperation {
  /// Whether the request is kept on disk until the origin has answered: written before its first byte leaves, and sent again
  /// after a dead link, a dead server, a crash or a restart. False by default; ignored for GET, HEAD, OPTIONS and
  /// TRACE, which change nothing. See <doc:Freezing>.
  public var isFreezable: Bool {
    get { request.isFreezable }
    set { configure { $0.isFreezable = newValue } }
  }

  /// The request is on the disk: from now on it is sent, whatever becomes of this process. Comes once, before the completion
  /// or the error. When the engine is shut down before the request could be sent, it is the last event.
  @discardableResult
  public func onFrozen(_ handler: @escaping @Sendable (FrozenTicket) -> Void) -> Self {
    add(.frozen(handler))
    return self
  }

  /// An attempt to send the frozen request has failed, and another one will be made: how many may have reached the origin by
  /// now, and why this one did not succeed. On the delivery target; for display, since what happens while nobody has
  /// the store open is not told.
  @discardableResult
  public func onAttempt(_ handler: @escaping @Sendable (_ attempts: Int, _ error: NetworkError) -> Void)
    -> Self
  {
    add(.attempt(handler))
    return self
  }
}
