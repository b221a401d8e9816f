extension AdmissionQueue {
  /// Admits the element whose turn it is and counts it as running; nil when nothing may start now. Call it
  /// until it answers nil after anything that can free a slot or add work.
  mutating func next() -> (element: Element, origin: OriginID)? {
    guard !isSuspended, running < maximumConcurrent, let priority = turns.take(among: readyClasses),
      let lane = rings.front(priority, unresolvedMayStart: unresolvedMayStart)
    else { return nil }
    let origin = OriginID(lane >> 2)
    let element = take(rings[lane].head)
    didStart(origin, lane)
    return element.map { ($0, origin) }
  }

  /// An admitted element of the origin has ended, whatever its outcome: its slot is free.
  mutating func finished(_ origin: OriginID) {
    let slot = checked(origin)
    precondition(origins[slot].running > 0, "an origin finished more elements than were admitted")
    origins[slot].running -= 1
    running -= 1
    if !origins[slot].isResolved { unresolvedRunning -= 1 }
    settle(origin)
  }

  private mutating func didStart(_ origin: OriginID, _ lane: UInt32) {
    let slot = Int(origin.rawValue)
    running += 1
    origins[slot].running += 1
    if !origins[slot].isResolved { unresolvedRunning += 1 }
    // Out and, if it may start another, in again: at the end of the ring, so the others come first.
    if rings[lane].isReady { rings.leave(lane, isResolved: origins[slot].isResolved) }
    settle(origin)
  }

  private var unresolvedMayStart: Bool { unresolvedRunning < maximumUnresolved }

  private var readyClasses: InlineArray<4, Bool> {
    var ready = InlineArray<4, Bool>(repeating: false)
    for priority in NetworkRequest.Priority.allCases {
      ready[Int(priority.rawValue)] =
        rings.front(priority, unresolvedMayStart: unresolvedMayStart) != nil
    }
    return ready
  }
}

extension AdmissionQueue {
  /// Brings the ring membership of all the origin's lanes in line with its slots.
  mutating func settle(_ origin: OriginID) {
    for priority in NetworkRequest.Priority.allCases {
      settle(lane: ReadyRings.lane(origin.rawValue, priority))
    }
  }

  /// A lane is in its ring exactly when it holds work and its origin has a free slot.
  mutating func settle(lane: UInt32) {
    let origin = origins[Int(lane >> 2)]
    let mayStart = !rings[lane].isEmpty && origin.hasFreeSlot
    guard mayStart != rings[lane].isReady else { return }
    if mayStart {
      rings.join(lane, isResolved: origin.isResolved)
    } else {
      rings.leave(lane, isResolved: origin.isResolved)
    }
  }

  mutating func leaveRings(_ origin: OriginID) {
    for priority in NetworkRequest.Priority.allCases {
      let lane = ReadyRings.lane(origin.rawValue, priority)
      if rings[lane].isReady { rings.leave(lane, isResolved: origins[Int(origin.rawValue)].isResolved) }
    }
  }
}
