/// A step in the course of a request. The parts find out which comes next, and return it; `Scheduler.go` alone acts on it.
/// Two words long, as every GET takes a dozen of them: what is larger lies in a box.
enum Step {
  // Before the exchange, in the order in which they are taken.

  /// Comes into the queue, unless its user holds it, its origin is another loop's, or it is to be frozen.
  case enter
  /// Looks for an equal request to share with. `isAsked`: the cache has been asked before.
  case share(isAsked: Bool)
  /// Gets the answer of an equal request.
  case join(NetworkOperation, isAsked: Bool)
  /// Asks the cache; what follows if that has no answer. A claim: another has asked for the same just now.
  case consult(then: Unanswered, after: Claim? = nil)
  /// Looks for a way there: where its engine may use some interfaces only, one of these must lead to others.
  case route(atFront: Bool)
  /// The addresses of the name that its connection leads to.
  case resolve(atFront: Bool)
  /// Its turn, in the queue.
  case line(atFront: Bool)
  /// Its turn has come: it has a place, and its exchange begins.
  case start

  // Behind an exchange, or in place of one.

  /// Has another exchange.
  indirect case next(Exchange.Next)
  /// Asks once more, after so many seconds.
  case again(after: Double)
  /// Asks as whom a provider of credentials says.
  indirect case renewed(Result<CredentialProvider.Held, NetworkError>)
  /// Goes on with what was looked up in a store.
  case found(CacheFinding)
  /// Ends with what is stored; `play`: its streams have room for that.
  indirect case answer(NetworkResponse)
  indirect case play(NetworkResponse)

  // What ends the course, here and for now.

  /// Waits; what follows then is the wait's to say.
  case wait(Wait)
  /// Ends all who share it.
  indirect case fail(NetworkError)
  indirect case end(Ending)
  /// Ends this one alone, whose end was on its way to it.
  indirect case withdraw(NetworkError)
  case pause
  case freeze
  /// Goes to the loop where its origin is, or where an equal request has gone.
  case goBack
  case goAfter(NetworkOperation)
  /// All is done: it is in its line, on the wire or with another, or has ended.
  case done
}

/// The way on of an operation that the cache has not answered.
enum Unanswered {
  case share
  case line, front

  var step: Step {
    switch self {
    case .share: .share(isAsked: true)
    case .line: .route(atFront: false)
    case .front: .route(atFront: true)
    }
  }
}

/// The course of a request: the one place where it stands which step follows which.
///
///     enter -> share -> consult -> route -> resolve -> line -> (its turn) -> start -> (libcurl) -> end
///                ^         ^         ^                                           |
///                |         |         +---- again: another attempt, credentials --+
///                |         +-------------- next: a redirect ---------------------+
///                +------------------------ another's exchange was of no use
///
/// It is entered by a submit, a wait that is over, a turn that has come, an exchange that has ended and a user who
/// resumes. What comes next is decided in the functions that are called here, one for each step, and done here.
extension Scheduler {
  func go(_ operation: NetworkOperation, from first: Step) {
    loop.assertOnLoop()
    var step = first
    while true {
      switch step {
      // First what belongs to a store of frozen requests or to another loop: for that nothing is looked for here.
      case .enter: step = operation.withSent { enter(operation, $0) }
      // Before the cache is asked: of a thousand equal requests one asks.
      case .share(let isAsked): step = operation.withSent { coalescer.share(operation, $0, isAsked: isAsked) }
      case .join(let leader, let isAsked):
        if join(operation, leader) { return }
        coalescer.leave(leader)  // its body is gone by
        step = .share(isAsked: isAsked)
      // Before there is a way: what is held needs none.
      case .consult(let next, let claim):
        step = operation.withSent { cacheSide.consult(operation, $0, then: next, after: claim) }
      case .route(let atFront):
        operation.loop.priority = highestPriority(operation)
        step = routeWait(operation).map { .wait($0) } ?? .resolve(atFront: atFront)
      // Before its turn, which is not kept waiting for a name server.
      case .resolve(let atFront):
        step = names.wait(for: operation, atFront: atFront).map { .wait($0) } ?? .line(atFront: atFront)
      case .line(let atFront): return lineUp(operation, atFront: atFront)
      case .start: step = start(operation)

      case .next(let next): step = self.step(operation, next)
      case .again(let seconds): step = delay(operation, seconds: seconds)
      case .renewed(let result): step = successors.authenticator.renewed(operation, result)
      case .found(let finding): step = cacheSide.step(operation, after: finding)
      case .answer(let response): step = answer(operation, response)

      case .play(let response): return play(response, of: operation)
      case .wait(let wait): return suspend(operation, wait)
      case .fail(let failure): return publish(operation, failure)
      case .end(let ending): return publish(operation, ending)
      case .withdraw(let failure): return withdraw(operation, failure)
      case .pause: return move(operation, to: .paused)
      case .freeze: return operation.withSent { freeze(operation, $0) }
      case .goBack: return goBack(operation)
      case .goAfter(let leader): return follow(leader, operation)
      case .done: return
      }
    }
  }

  /// What an operation does whose turn has come. Whatever else than to start gives the turn back first.
  func takeTurn(_ operation: NetworkOperation, at origin: Origin) {
    let step = turnStep(operation)
    if case .start = step { return go(operation, from: step) }
    if case .withdraw = step { driver.places.refuse(operation.loop.placeWait) }
    move(operation, to: .deciding)
    context.queue.finished(origin.id)
    go(operation, from: step)
  }

  /// While it waited much may have changed: it may be about to end, its way be gone, its engine have no room, or another
  /// process ask for the same.
  private func turnStep(_ operation: NetworkOperation) -> Step {
    if operation.loop.waitersLeft == 0, operation.loop.transfer == nil,
      let failure = operations.failure(awaiting: operation)
    {
      return .withdraw(failure)
    }
    if let wait = routeWait(operation) { return .wait(wait) }
    if let list = roomList(operation) { return .wait(Wait(.room, in: list, then: .route(atFront: true))) }
    guard let step = cacheSide.claims.step(operation) else { return .start }
    if case .wait = step { limitStreams(of: operation) }
    return step
  }

  /// The operation waits from now on, and then takes the step that the wait says.
  func suspend(_ operation: NetworkOperation, _ wait: Wait) {
    wait.begin(operation, context)
    move(operation, to: .waiting(.until(wait)))
  }
}
