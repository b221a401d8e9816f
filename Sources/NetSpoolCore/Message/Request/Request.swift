/// What to send and how, as one value. The rare settings share one box, so that a queued GET stays small.
package struct Request: Sendable {
  package var url: String
  package var method: Method
  package var headers = HeaderFields()
  package var priority: Priority = .normal
  package var coalesces = true
  package var isFreezable = false
  /// The engine's when nil. Without a cache it has no meaning, except that `onlyIfCached` finds nothing.
  package var cachePolicy: CachePolicy?
  /// An array of none or one is the standard library's own copy-on-write box.
  private var extras: [RequestExtras] = []

  package init(url: String, method: Method = .get) {
    self.url = url
    self.method = method
  }

  package var extra: RequestExtras {
    // Lent: a copy of all of them costs more than most of what is done with one.
    _read {
      if extras.isEmpty { yield.standard } else { yield extras[0] }
    }
    _modify {
      if extras.isEmpty { extras.append(.standard) }
      yield &extras[0]
    }
  }

  package var hasExtras: Bool { !extras.isEmpty }

  package var credential: Credential? { hasExtras ? extra.credential : nil }
}

/// The settings that most requests leave alone.
package struct RequestExtras: Sendable {
  /// Ordered pairs that go to the query or the form when the operation is enqueued.
  package var parameters: [Parameter] = []
  package var sendsParametersAsJSON = false
  package var body: RequestBody = .none
  /// The body as it will be sent, made when the operation is enqueued.
  package var prepared: PreparedBody = .none
  package var timeouts: Timeouts?
  package var retry: RetryPolicy?
  package var redirects: RedirectPolicy?
  package var idempotencyKey: String?
  package var tag: String?
  package var resumes = false
  /// Seconds for which the answer counts as fresh, whatever it says itself; nil: the rules decide.
  package var cacheLifetime: Double?
  /// Names whose answers these are; nil: derived from the credentials.
  package var credentialScope: String?
  /// `cachedThenFresh` says nothing more when the fresh body is the cached one.
  package var notifiesOnlyChanges = false
  /// Wins over the engine's, and goes to the origin of the URL only.
  package var credential: Credential?
  package var freezing = FreezeTerms()

  package static let standard = RequestExtras()
}
