/// Keeps the table of origins short: who asks a million servers for one page each needs none of them again.
extension Scheduler {
  /// Origins that are remembered though nothing is asked of them.
  static let originsKept = 1024

  /// Origins that are remembered.
  var originCount: Int { origins.all.count }

  /// Forgets the idle ones that have not been used for longest: their widths, their handles, their numbers. Not
  /// those that asked for quiet. Called when the table has doubled, so that its cost is spread over those that
  /// made it long. From `later` only: callbacks of libcurl may still name an origin before.
  func retireOrigins() {
    let used = originsInUse()
    let idle = origins.all.filter { origin in
      queue.running(at: origin.id) + queue.waiting(at: origin.id) == 0 && origin.hold == nil
        && !used.contains(origin.id)
    }
    let oldest = idle.sorted { $0.usedAt < $1.usedAt }.prefix(
      max(0, origins.all.count - Self.originsKept / 2))
    origins.remove(Set(oldest.map(\.id)))
    for origin in oldest { queue.removeOrigin(origin.id) }
    originsKnown = origins.all.count
    originsMax = max(Self.originsKept, originsKnown * 2)
  }

  /// Origins that are watched, and those of operations that have not ended.
  private func originsInUse() -> Set<OriginID> {
    var used = connectivity?.watchedOrigins ?? []
    operations.forEach { if let origin = $0.loop.origin { used.insert(origin.id) } }
    return used
  }
}
