extension FrozenFacts {
  /// A clock that was set back by less says nothing about its worth: time services do so all day.
  private static let clockTolerance: Microseconds = 5 * .second

  /// How old it is by clocks that do not go back.
  func monotonicAge(at now: FrozenMoment) -> Microseconds {
    storedAge + max(0, now.monotonic - agedAt)
  }

  /// How old it is: by the wall clock, which also runs while nobody has the store open, but never less than the
  /// other clocks have counted. So a wall clock set back makes no record immortal.
  func age(at now: FrozenMoment) -> Microseconds {
    max(monotonicAge(at: now), now.wall - createdWall)
  }

  func isExpired(at now: FrozenMoment) -> Bool { age(at: now) > lifetime }

  /// How long until it expires, by this process's monotonic clock.
  func timeLeft(at now: FrozenMoment) -> Microseconds { max(0, lifetime - age(at: now)) }

  /// Since bytes may have left for the first time; nil when the wall clock was set back since, or none have.
  func timeSinceFirstSend(at now: FrozenMoment) -> Microseconds? {
    guard let firstSend else { return nil }
    let byWall = now.wall - firstSend.wall
    return byWall < -Self.clockTolerance ? nil : max(byWall, monotonicAge(at: now) - firstSend.age)
  }

  /// How long it still has to wait. A moment further ahead than any wait can be comes from a clock that was set
  /// since, and is pulled back.
  func wait(at now: FrozenMoment, policy: FrozenPolicy) -> Microseconds {
    let longest = flags.contains(.isWaitStated) ? policy.retryAfterMax : policy.backoffMax
    return min(max(0, notBeforeWall - now.wall), longest)
  }

  /// Notes how old it is: done with every change, so that the store always knows.
  mutating func noteAge(at now: FrozenMoment) {
    storedAge = monotonicAge(at: now)
    agedAt = now.monotonic
  }
}
