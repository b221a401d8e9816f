/// What to send and how, as one value. The rare settings share one box, so that a queued GET stays small.
struct Request: Sendable {
  var url: String
  var method: Method
  var headers = HeaderFields()
  var priority: Priority = .normal
  var coalesces = true
  var isFreezable = false
  /// The engine's when nil. Without a cache it has no meaning, except that `onlyIfCached` finds nothing.
  var cachePolicy: CoreCachePolicy?
  /// An array of none or one is the standard library's own copy-on-write box.
  private var extras: [RequestExtras] = []

  init(url: String, method: Method = .get) {
    self.url = url
    self.method = method
  }

  var extra: RequestExtras {
    // Lent: a copy of all of them costs more than most of what is done with one.
    _read {
      if extras.isEmpty { yield.standard } else { yield extras[0] }
    }
    _modify {
      if extras.isEmpty { extras.append(.standard) }
      yield &extras[0]
    }
  }

  var hasExtras: Bool { !extras.isEmpty }

  var credential: Credential? { hasExtras ? extra.credential : nil }
}

/// The settings that most requests leave alone.
struct RequestExtras: Sendable {
  /// Ordered pairs that go to the query or the form when the operation is enqueued.
  var parameters: [Parameter] = []
  var sendsParametersAsJSON = false
  var body: RequestBody = .none
  /// The body as it will be sent, made when the operation is enqueued.
  var prepared: PreparedBody = .none
  var timeouts: Timeouts?
  var retry: RetryPolicy?
  var redirects: RedirectPolicy?
  var idempotencyKey: String?
  var tag: String?
  var resumes = false
  /// Seconds for which the answer counts as fresh, whatever it says itself; nil: the rules decide.
  var cacheLifetime: Double?
  /// Names whose answers these are; nil: derived from the credentials.
  var credentialScope: String?
  /// `cachedThenFresh` says nothing more when the fresh body is the cached one.
  var notifiesOnlyChanges = false
  /// Wins over the engine's, and goes to the origin of the URL only.
  var credential: Credential?
  var freezing = FreezeTerms()

  static let standard = RequestExtras()
}
