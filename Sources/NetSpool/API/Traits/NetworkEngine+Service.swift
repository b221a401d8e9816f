#if ServiceLifecycle
public import ServiceLifecycle

/// An engine among the services of a program (trait `ServiceLifecycle`). List it before the services that use it: a group shuts
/// down in reverse order, so the server ends first, and with it the last request that anybody waits for.
extension NetworkEngine: Service {
  /// Waits until the program is to end, then shuts the engine down: what is under way has 10 s, what is frozen stays
  /// frozen. A task that is cancelled, as a group's whose time for an orderly end is over, leaves it none. Never throws.
  public func run() async throws {
    try? await gracefulShutdown()
    await withTaskCancellationHandler {
      await shutDown()
    } onCancel: {
      shutDown(deadline: .zero) {}
    }
  }
}
#endif
