// The shared memory `fences` of a store: words of 64 bits in the byte order of the machine.
//
//    0      mark of the layout
//    1      microseconds of the machine's own clock when all resources were changed last; 0: never
//    2 + n  the same of the resources whose number leaves n

/// When resources were changed last, by whatever process: in memory that they share, so that loops see it at
/// once and wait for no disk. The disk is told as well (`CacheDatabases.fences`). Resources that share a word
/// count as one, which costs a request. Any thread.
final class FenceWords: Sendable {
  /// Of shared memory.
  static let kind = "fences"
  static let wordCount = start + Int(resourceCount)

  private static let layout: UInt64 = 0x0001_6365_6E63_6566
  private static let start = 2
  private static let resourceCount: UInt64 = 4_096

  private let words: SharedWords
  private let generation = ForkGuard.begin()

  /// Nil when it is of another layout.
  init?(_ words: SharedWords) {
    _ = words.exchange(0, for: Self.layout, at: 0)
    guard words[0] == Self.layout, words.count >= Self.wordCount else { return nil }
    self.words = words
  }

  /// The last process that does so removes it.
  func letGo() { words.letGo() }

  func note(_ resource: UInt64, at moment: Microseconds) { note(moment, at: Self.index(of: resource)) }

  func noteAll(at moment: Microseconds) { note(moment, at: 1) }

  /// What was asked for at a moment is older than the last change.
  func holdBack(_ resource: UInt64, askedAt moment: Microseconds) -> Bool {
    guard let asked = UInt64(exactly: moment), moment != .max else { return false }
    return asked <= words[Self.index(of: resource)] || asked <= words[1]
  }

  private static func index(of resource: UInt64) -> Int { start + Int(resource % resourceCount) }

  private func note(_ moment: Microseconds, at index: Int) {
    guard ForkGuard.generation == generation, let moment = UInt64(exactly: moment) else { return }
    var last = words[index]
    while last < moment, !words.exchange(last, for: moment, at: index) { last = words[index] }
  }
}
