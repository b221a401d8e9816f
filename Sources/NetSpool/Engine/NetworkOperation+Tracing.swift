#if Tracing
internal import Synchronization
#endif

/// Where the trait `Tracing` looks at operations; without it nothing is done here.
extension NetworkOperation {
  /// On the thread that enqueues. `letter`: this is an attempt to send the frozen request that it waits for.
  func beginTrace(_ request: NetworkRequest, below letter: NetworkOperation? = nil) {
    #if Tracing
    let trace = OperationTrace(of: request, below: letter?.shared.withLock { $0.rare.trace })
    shared.withLock { $0.rare.trace = trace }
    #endif
  }

  /// The delivery target; of an attempt the loop.
  func endTrace(_ result: Result<NetworkResponse, NetworkError>) {
    #if Tracing
    let trace = shared.withLock { shared in
      if shared.rare.trace == nil { return OperationTrace?.none }
      defer { shared.rare.trace = nil }
      return shared.rare.trace
    }
    trace?.end(result)
    #endif
  }

  var isTraced: Bool {
    #if Tracing
    shared.withLock { $0.rare.trace != nil }
    #else
    false
    #endif
  }

  /// Loop thread: another exchange begins. The fields that tell its origin of the trace; none for another origin than the
  /// request was for.
  func traceFields(_ plan: inout Exchange.Plan, isForeign: Bool) -> Headers {
    #if Tracing
    guard let trace = shared.withLock({ $0.rare.trace }) else { return Headers() }
    let exchange = trace.exchange(plan.method, plan.url, number: loop.history?.attempts ?? 1)
    plan.onEnd = { exchange.end($0, $1) }
    return isForeign ? Headers() : exchange.fields
    #else
    return Headers()
    #endif
  }
}
