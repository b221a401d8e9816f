internal import Synchronization

/// Makes exchanges ready to begin: a transfer with connections to go by, and a plan with limits, fields and body. Loop thread.
final class Starter {
  let pools: ConnectionPools
  private let authenticator = Authenticator()
  /// Transfers made since admission began.
  var newTransfers = 0
  private let context: LoopContext

  /// - Parameter release: drops the idle transfers of connections that are about to be closed.
  init(
    _ context: LoopContext, idleMax: Microseconds, release: @escaping (MultiHandle) -> Void
  ) throws(NetworkError) {
    self.context = context
    pools = try ConnectionPools(
      loop: context.loop, loops: context.port.driver.loops.count, idleMax: idleMax, release: release)
  }

  /// So many are made in one turn: each means a connection mostly, which takes libcurl five times as long as a request on an
  /// open one, and libcurl makes all of them in one call.
  static let newTransfersMax = 32

  /// A transfer with the plan of the operation's next exchange. `listen` has a new one tell the scheduler.
  func transfer(
    for operation: NetworkOperation, _ request: NetworkRequest, at origin: Origin, listen: (Transfer) -> Void
  ) throws(NetworkError) -> Transfer {
    let credential = authenticator.credential(of: operation, request)
    let (connections, share) = connections(for: operation, at: origin, credential)
    let scope = HandleScope(
      engine: operation.engine.id, streams: operation.hasStreams, identity: credential?.id ?? 0,
      connections: connections)
    let transfer: Transfer
    if let idle = origin.idle.take(scope) {
      transfer = idle
    } else {
      transfer = try makeTransfer(of: scope, for: operation, at: origin, credential)
      listen(transfer)
    }
    transfer.exchange.readAhead = share
    try plan(&transfer.exchange.plan, operation, request, transfer, credential)
    return transfer
  }

  private func makeTransfer(
    of scope: HandleScope, for operation: NetworkOperation, at origin: Origin,
    _ credential: NetworkCredentials?
  ) throws(NetworkError) -> Transfer {
    newTransfers += 1
    var settings = operation.engine.handleSettings
    // Such a name escapes the list of public suffixes, and with it a cookie for a whole country.
    if settings.keepsCookies, origin.hasTrailingDot {
      throw NetworkError(.invalidURL, reason: "trailing dot")
    }
    if let credential { settings.identify(as: credential) }
    if scope.streams {
      settings.receiveBufferBytes = max(settings.receiveBufferBytes, HandleSettings.streamBufferBytes)
    }
    let multi = try pools.multi(for: settings, of: scope, within: operation.engine.reach)
    let transfer = try Transfer(
      origin: origin.text, scope: scope, settings: settings.leading(to: origin.pieces), multi: multi,
      shared: origin.idle.shared(on: multi))
    transfer.onInformational = { [unowned context] in context.tellInformational($0, $1) }
    transfer.onSilence = { [unowned origin] in origin.leave($0.scope.connections) }
    transfer.onSocket = { [unowned context, unowned origin] _ in
      context.later { context.queue.markResolved(origin.id) }
    }
    return transfer
  }

  /// Chooses the connections for an exchange that is about to begin. How long its answer will be is not known yet: a request
  /// that may be sent twice shares one, as long as the limit is not reached, and is sent again where its answer turns out to be
  /// too long. Any other has its room before it is sent.
  private func connections(
    for operation: NetworkOperation, at origin: Origin, _ credential: NetworkCredentials?
  ) -> (ConnectionChoice, BudgetRoom.Share?) {
    let shared = ConnectionChoice.shared(origin.connections)
    let isHTTP2 = operation.engine.handleSettings.mayBeHTTP2(isSecure: origin.isSecure)
    let servesOnce = isHTTP2 && !origin.isSecure && Quirks.breaksKnownHTTP2
    if servesOnce || operation.loop.history?.needsOwnConnection ?? false { return (.own, nil) }
    guard operation.hasStreams, origin.speaksHTTP2 ?? true, !(credential?.isNTLM ?? false), isHTTP2 else {
      return (shared, nil)
    }
    if operation.mayRepeat, origin.speaksHTTP2 == nil { return (shared, nil) }
    guard let share = context.port.driver.readAhead.share(ReadAhead.windowBytes) else { return (.own, nil) }
    return (shared, operation.mayRepeat ? nil : share)
  }

  /// Makes the plan where it will stand.
  private func plan(
    _ plan: inout Exchange.Plan, _ operation: NetworkOperation, _ request: NetworkRequest,
    _ transfer: Transfer, _ credential: NetworkCredentials?
  ) throws(NetworkError) {
    let history = operation.loop.history
    plan.aim(at: history?.target.url ?? request.url)
    plan.method = history?.target.method ?? request.method
    plan.limits = operation.engine.configuration.limits
    plan.onWire = operation.engine.configuration.onWire
    plan.timeouts = operation.exchangeLimits(request)
    if let total = plan.timeouts.total, let spent = history?.spent, spent > 0 {
      plan.timeouts.total = .microseconds(max(1, total.microseconds - spent))
    }
    if let attempt = plan.timeouts.attempt {
      let spent = (history?.spent ?? 0) - (history?.spentBefore ?? 0)
      plan.timeouts.attempt = .microseconds(max(1, attempt.microseconds - spent))
    }
    if let spent = history?.connecting.spent, spent > 0 {
      plan.timeouts.connect = .microseconds(max(1, plan.timeouts.connect.microseconds - spent))
    }
    plan.refusesResend =
      !(plan.method.isIdempotent || operation.isKeyed)
      || !Repetition.policy(of: operation, request).repeatsOnDeadConnection
    plan.needsFreshConnection = history?.needsFreshConnection ?? false
    plan.source = try makeSource(operation, request, transfer)
    plan.hasRounds = credential?.isNTLM ?? false
    do throws(NetworkError) {
      try setHeaders(&plan, operation, request, transfer, credential)
    } catch {
      plan.source?.close()
      throw error
    }
  }

  private func makeSource(
    _ operation: NetworkOperation, _ request: NetworkRequest, _ transfer: Transfer
  ) throws(NetworkError) -> (any BodySource)? {
    guard request.hasExtras, operation.loop.history?.target.keepsBody ?? true else { return nil }
    let source = request.prepared.makeSource(ready: {
      operation.perform { _ in operation.loop.transfer?.resumeSending() }
    })
    try source?.open()
    return source
  }

  /// The lines are told to libcurl only when they differ from the last exchange's on this handle.
  private func setHeaders(
    _ plan: inout Exchange.Plan, _ operation: NetworkOperation, _ request: NetworkRequest,
    _ transfer: Transfer, _ credential: NetworkCredentials?
  ) throws(NetworkError) {
    let own = operation.loop.history?.target.headers ?? request.headers
    let isForeign = operation.loop.history?.target.isForeign ?? false
    let hasBody = plan.source != nil || plan.method.expectsBody
    let conditions = operation.loop.cacheUse?.conditions ?? Headers()
    let isBare = own.count == 0 && !isForeign && !hasBody
    let isPlain = isBare && conditions.count == 0 && credential?.isConstant ?? true && !operation.isTraced
    // Whoever would go on with a part wants plain bytes, and may get others from a server that does not ask.
    let isForRest = request.isForRest && own.first("Accept-Encoding") == "identity"
    let isItsOwn = own.contains("Accept-Encoding") || own.contains("Range")
    plan.decodes = operation.engine.decodes && (isPlain || isForRest || !isItsOwn)
    if isPlain && transfer.hasDefaultHeaders { return }
    transfer.hasDefaultHeaders = isPlain
    let defaults = isForeign ? Headers() : operation.engine.headers
    var added = try addedFields(credential, operation, request, plan, own: own, defaults: defaults)
    if transfer.namesHost, let origin = operation.loop.origin, !own.contains("Host"),
      !defaults.contains("Host")
    {
      added.append(name: "Host", value: origin.pieces.hostField)
    }
    let traced = operation.traceFields(&plan, isForeign: isForeign)
    plan.headerLines =
      try isBare
      ? operation.engine.plainLines + HeaderLines.each(conditions + added + traced)
      : HeaderLines.make(
        defaults: defaults, own: own + conditions + added + traced, decodes: plan.decodes, hasBody: hasBody,
        expects: !(operation.loop.history?.refusesExpect ?? false))
        + operation.engine.configuration.omittedLines
  }

  private func addedFields(
    _ credential: NetworkCredentials?, _ operation: NetworkOperation, _ request: NetworkRequest,
    _ plan: Exchange.Plan, own: Headers, defaults: Headers
  ) throws(NetworkError) -> Headers {
    if let origin = operation.loop.origin {
      try authenticator.refuseInClear(own, at: origin, operation.engine)
      try authenticator.refuseInClear(defaults, at: origin, operation.engine)
    }
    guard let credential else { return Headers() }
    return try authenticator.authorization(
      credential, operation, request, plan,
      own: SentFields.make(defaults: defaults, own: own, decodes: false))
  }
}

extension LoopContext {
  /// A 1xx answer. In the middle of libcurl's work, so it is only told.
  fileprivate func tellInformational(_ transfer: Transfer, _ head: ResponseHead) {
    guard let operation = transfer.exchange.owner as? NetworkOperation else { return }
    operation.forEachRecipient { recipient in
      let wants = recipient.shared.withLock { $0.handlers.wantsInformational }
      if wants { tell(recipient, .informational(head)) }
    }
  }
}
