/// The network as the job sees it: one small adapter implements it, and a gate in the tests.
protocol Fetcher: AnyObject {
  /// Begins one fetch. `completion` is called exactly once, on any thread, also before `start` returns.
  func start(_ item: FetchItem, completion: @escaping @Sendable (FetchOutcome) -> Void)

  /// Ends what has not been sent yet with `.cancelled`; what is under way goes on.
  func cancelWaiting()

  /// Ends everything with `.cancelled`.
  func cancelAll()
}
