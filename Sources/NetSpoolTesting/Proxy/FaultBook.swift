/// Which toxics are on, since when.
struct FaultBook: Sendable {
  private struct Page: Sendable {
    var toxics: [Toxic] = []
    var since = ContinuousClock.now
  }

  private var pages: [FaultProxy.Direction: Page] = [:]
  /// Goes up with every change.
  private(set) var edition = 0

  mutating func set(_ toxics: [Toxic], on direction: FaultProxy.Direction) {
    pages[direction] = Page(toxics: toxics)
    edition += 1
  }

  func toxics(on direction: FaultProxy.Direction) -> [Toxic] { pages[direction]?.toxics ?? [] }

  /// What hits one connection. The dice are thrown anew from the same seed: the same toxics hit the same
  /// connections whenever they are set.
  func mix(_ direction: FaultProxy.Direction, connection: Int, seed: UInt64) -> ToxicMix {
    let page = pages[direction] ?? Page()
    var dice = SeededDice(seed: seed &+ direction.seed, stream: UInt64(connection) | 1 << 63)
    return ToxicMix(page.toxics, since: page.since, dice: &dice)
  }
}

extension FaultProxy.Direction {
  /// Keeps the dice of the two directions apart.
  var seed: UInt64 { self == .upstream ? 1 : 2 }
}
