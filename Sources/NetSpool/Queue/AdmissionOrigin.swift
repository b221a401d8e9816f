/// What an `AdmissionQueue` knows of one origin.
struct AdmissionOrigin: Sendable {
  var limit: Int
  var isResolved: Bool
  var isRegistered = true
  var running = 0
  var waiting = 0

  /// One more may start, as far as this origin is concerned.
  var hasFreeSlot: Bool { running < (isResolved ? limit : min(limit, 1)) }
}

extension AdmissionQueue {
  /// Registers an origin.
  ///
  /// - Parameters:
  ///   - limit: how many of its elements may run at once; 0 holds it.
  ///   - resolved: false while its name has not been resolved: it then runs one element at a time and
  ///     counts against `maximumUnresolved`, until `markResolved`.
  mutating func addOrigin(limit: Int, resolved: Bool = true) -> OriginID {
    let origin = AdmissionOrigin(limit: limit, isResolved: resolved)
    if let free = freeOrigins.popLast() {
      origins[Int(free)] = origin
      return OriginID(free)
    }
    origins.append(origin)
    rings.addOrigin()
    return OriginID(UInt32(origins.count - 1))
  }

  /// Forgets an origin; its number may be given to another. False, and nothing changes, while it has waiting
  /// or running elements.
  @discardableResult
  mutating func removeOrigin(_ origin: OriginID) -> Bool {
    let slot = checked(origin)
    guard origins[slot].waiting == 0, origins[slot].running == 0 else { return false }
    origins[slot].isRegistered = false
    freeOrigins.append(origin.rawValue)
    return true
  }

  /// Changes how many may run at once; 0 holds the origin. Stops nothing that runs.
  mutating func setLimit(_ limit: Int, for origin: OriginID) {
    origins[checked(origin)].limit = limit
    refresh(origin)
  }

  /// The origin's name is known: from now on only its limit counts.
  mutating func markResolved(_ origin: OriginID) {
    let slot = checked(origin)
    guard !origins[slot].isResolved else { return }
    leaveRings(origin)
    origins[slot].isResolved = true
    if origins[slot].running > 0 { unresolvedRunning -= 1 }
    refresh(origin)
  }

  func limit(of origin: OriginID) -> Int { origins[checked(origin)].limit }
  func running(at origin: OriginID) -> Int { origins[checked(origin)].running }
  func waiting(at origin: OriginID) -> Int { origins[checked(origin)].waiting }

  func checked(_ origin: OriginID) -> Int {
    let slot = Int(origin.rawValue)
    precondition(
      slot < origins.count && origins[slot].isRegistered,
      "an origin was used in an admission queue that it is not, or no longer, registered with")
    return slot
  }
}
