extension ResponseFacts {
  /// Everything that can be known when the answer comes. `fields` as they were received; `date`: of the answer,
  /// in seconds since 1970.
  init(
    status: Int, fields: AnswerFields, directives: ResponseDirectives, date: Int64, requestedAt: Int64,
    receivedAt: Int64, rules: CacheRules
  ) {
    let age = InitialAge(fields, date: date, requestedAt: requestedAt, receivedAt: receivedAt, rules: rules)
    initialAge = age.milliseconds
    if age.isUnknown { flags.insert(.ageIsUnknown) }
    setLifetime(status: status, fields: fields, directives: directives, date: date, rules: rules)
  }

  /// The part that depends on the rules alone, so that a store outlives a change of the rules.
  mutating func setLifetime(
    status: Int, fields: AnswerFields, directives: ResponseDirectives, date: Int64, rules: CacheRules
  ) {
    let freshness = FreshnessLifetime(
      status: status, fields: fields, directives: directives, date: date, rules: rules)
    lifetime = freshness.seconds
    staleWhileRevalidate = directives.staleWhileRevalidate.value ?? 0
    staleIfError = directives.staleIfError.value ?? 0
    self.rules = rules.fingerprint
    flags.set(.isExplicit, freshness.isExplicit)
    flags.set(.forbidsStale, Self.forbidsStale(directives, rules))
    flags.set(.immutable, directives.flags.contains(.immutable))
    flags.set(.hasValidator, Validators.exist(fields))
    flags.set(.varies, fields.contains(.vary))
  }

  private static func forbidsStale(_ directives: ResponseDirectives, _ rules: CacheRules) -> Bool {
    if !directives.flags.isDisjoint(with: [.mustRevalidate, .noCache]) { return true }
    // `s-maxage` has the meaning of `proxy-revalidate` (RFC 9111 section 5.2.2.10).
    return rules.isShared && (directives.flags.contains(.proxyRevalidate) || directives.sMaxAge != .absent)
  }

  /// Seconds since 1970; the time of receipt stands in for a Date that is missing or unreadable (RFC 9110
  /// section 6.6.1).
  static func date(_ fields: AnswerFields, receivedAt: Int64) -> Int64 {
    saidDate(fields, receivedAt: receivedAt) ?? InitialAge.seconds(receivedAt)
  }

  /// Nil if it is missing or unreadable.
  static func saidDate(_ fields: AnswerFields, receivedAt: Int64) -> Int64? {
    fields[.date].flatMap { HTTPDate.parse($0, now: InitialAge.seconds(receivedAt)) }
  }
}

extension ResponseFacts.Flags {
  fileprivate mutating func set(_ flag: Self, _ isOn: Bool) {
    if isOn { insert(flag) } else { remove(flag) }
  }
}
