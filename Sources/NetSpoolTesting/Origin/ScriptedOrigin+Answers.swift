/// What it answers. A request gets, in this order, the next answer queued for its path, the answer of its path's
/// route, that of the longest prefix that fits, the next answer queued for every path, and the fallback.
extension ScriptedOrigin {
  /// Queues answers: each request that no route takes gets the next of them.
  public func enqueue(_ answers: Answer...) { state.changeRoutes { $0.enqueue(answers, path: nil) } }

  /// Queues answers for the requests to this path; when they are used up its route comes in again.
  public func enqueue(_ answers: Answer..., for path: String) {
    state.changeRoutes { $0.enqueue(answers, path: path) }
  }

  /// Answers every request to this path, whatever its query, with the same answer.
  public func on(_ path: String, _ answer: Answer) { state.changeRoutes { $0.set(path, .fixed(answer)) } }

  /// Answers every request to this path with what the closure makes of it, on the origin's thread.
  public func on(_ path: String, _ closure: @escaping AnswerClosure) {
    state.changeRoutes { $0.set(path, .made(closure)) }
  }

  /// Answers every request whose path begins with this prefix.
  public func on(prefix: String, _ answer: Answer) {
    state.changeRoutes { $0.set(prefix: prefix, .fixed(answer)) }
  }

  /// Answers every request whose path begins with this prefix with what the closure makes of it.
  public func on(prefix: String, _ closure: @escaping AnswerClosure) {
    state.changeRoutes { $0.set(prefix: prefix, .made(closure)) }
  }

  /// Looks at requests to this path when only their head is there, on the origin's thread: an answer is sent at
  /// once, whatever is to come of the body; nil lets the request go on to queues and routes.
  public func onHead(_ path: String, _ closure: @escaping @Sendable (RecordedRequest) -> Answer?) {
    state.changeRoutes { $0.setHead(path, closure) }
  }

  /// Answers requests for which nothing else is scripted. Until it is set they get 404.
  public func fallback(_ answer: Answer) { state.changeRoutes { $0.fallback = .fixed(answer) } }

  /// Answers requests for which nothing else is scripted with what the closure makes of them.
  public func fallback(_ closure: @escaping AnswerClosure) {
    state.changeRoutes { $0.fallback = .made(closure) }
  }

  /// Forgets all queues, routes and the fallback.
  public func removeAnswers() { state.changeRoutes { $0.removeAll() } }

  /// What it does with `Expect: 100-continue`. Default ``ExpectPolicy/answer``.
  public var expectPolicy: ExpectPolicy {
    get { state.expectPolicy }
    set { state.expectPolicy = newValue }
  }
}
