internal import Glibc
internal import Synchronization

/// The file as lookups see it. A reader of it may have to wait for the disk, for ever if that hangs. So it is read under a
/// lock of its own, which no loop takes, and for which no lookup waits long.
struct StoreViews: ~Copyable {
  var current: Snapshot?
  var verified = VerifiedBodies()
  /// The current snapshot was used since the store thread looked last.
  var isCurrentUsed = false

  /// Makes lookups begin with another snapshot from now on.
  mutating func retireCurrent() {
    current?.retire()
    current = nil
  }
}

extension CacheStoreCore {
  private static let yieldsMax = 100

  /// Looks into the file, or does not: nil when others have been at it for too long (`lookPatience`), and wait for the disk. A
  /// look takes a microsecond else.
  func withViews<Result>(_ body: (inout sending StoreViews) -> sending Result) -> sending Result? {
    var (until, rounds): (Microseconds, Int) = (0, 0)
    while true {
      if let result = views.withLockIfAvailable(body) {
        if areViewsStuck.load(ordering: .relaxed) { areViewsStuck.store(false, ordering: .relaxed) }
        return result
      }
      if areViewsStuck.load(ordering: .relaxed) { return nil }
      let now = MonotonicClock.now
      if until == 0 { until = now + settings.lookPatience }
      if now >= until {
        areViewsStuck.store(true, ordering: .relaxed)
        return nil
      }
      rounds += 1
      if rounds < Self.yieldsMax { sched_yield() } else { usleep(useconds_t(min(rounds, 1_000))) }
    }
  }
}

/// Remembers which bodies this process has compared with their checksums: a bit per body id.
///
/// Ids of one process follow each other, so the bits stand in blocks of 32,768. There are at most 256 blocks
/// (1 MiB); a newer one takes the place of an older one, whose bodies are then compared once more.
struct VerifiedBodies {
  private static let blockBits = 15
  private static let blockWords = 1 << (blockBits - 6)
  private static let blocksMax = 256
  /// The number of the block at each index.
  private var numbers: [UInt64] = []
  /// The blocks, one behind the other.
  private var words: [UInt64] = []

  func contains(_ id: UInt64) -> Bool {
    let (number, place) = Self.block(of: id)
    guard place < numbers.count, numbers[place] == number else { return false }
    return words[Self.word(of: id, in: place)] & (1 << (id % 64)) != 0
  }

  mutating func insert(_ id: UInt64) {
    let (number, place) = Self.block(of: id)
    while numbers.count <= place {
      numbers.append(.max)
      words.append(contentsOf: repeatElement(0, count: Self.blockWords))
    }
    if numbers[place] != number {
      numbers[place] = number
      for index in 0..<Self.blockWords { words[place * Self.blockWords + index] = 0 }
    }
    words[Self.word(of: id, in: place)] |= 1 << (id % 64)
  }

  private static func block(of id: UInt64) -> (number: UInt64, place: Int) {
    let number = id >> blockBits
    return (number, Int(number % UInt64(blocksMax)))
  }

  private static func word(of id: UInt64, in place: Int) -> Int {
    place * blockWords + Int(id >> 6) & (blockWords - 1)
  }
}
