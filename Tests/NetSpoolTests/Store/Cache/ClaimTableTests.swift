import Glibc
import Testing

@testable import NetSpool
@testable import TestSupport

/// The table in which processes say who asks the origin for what.
struct ClaimTableTests {
  private let folder: TestFolder

  init() throws { folder = try TestFolder() }

  private static func table(_ folder: TestFolder, silenceMax: Microseconds = 60_000_000) throws -> ClaimTable
  {
    try #require(ClaimTable(words(memory(folder)), silenceMax: silenceMax))
  }

  private static func memory(_ folder: TestFolder) throws -> SharedMemory {
    try SharedMemory(ClaimTable.kind, named: "table", bytes: 8 * ClaimTable.wordCount, in: folder.path)
  }

  private static func words(_ memory: SharedMemory) throws -> SharedWords {
    try SharedWords(in: memory, count: ClaimTable.wordCount)
  }

  private static func key(_ number: Int) -> KeyDigest { StoreKey("\(number)").digest }

  @Test func `a claim is one claimant's until it ends`() throws {
    // Given two maps of one file, as two processes have them
    let (ours, theirs) = (try Self.table(folder), try Self.table(folder))
    let (we, they) = (Claimant(ours), Claimant(theirs))
    let key = Self.key(1)
    var claim = ours.claim(key, for: we).claim
    #expect(claim != nil && !we.isIdle)
    #expect(theirs.claim(key, for: they).isTaken)
    #expect(theirs.state(of: key) == .taken)
    // When it is given up without an answer, then it is free
    claim = nil
    #expect(theirs.state(of: key) == .free && we.isIdle)
    // When it has ended, others may claim it, and hear that there is something new
    claim = ours.claim(key, for: we).claim
    claim?.finish()
    #expect(theirs.state(of: key) == .done)
    let next = theirs.claim(key, for: they)
    #expect(next.isNews && next.claim != nil)
    #expect(ours.claim(key, for: we).isTaken)
    #expect(next.isNews && ours.state(of: key) == .taken)
    // And what was found not to be storable is nobody's to wait for
    next.claim?.giveUp()
    #expect(ours.state(of: key) == .uncacheable)
    #expect(ours.claim(key, for: we).isUnneeded)
  }

  @Test func `a claimant that is silent has none, and its place goes to others`() throws {
    let (ours, theirs) = (try Self.table(folder, silenceMax: 1), try Self.table(folder, silenceMax: 1))
    let we = Claimant(ours)
    let claim = try #require(ours.claim(Self.key(1), for: we).claim)
    usleep(100)
    #expect(theirs.state(of: Self.key(1)) == .void)
    // When all places are taken by others
    let others = (0..<256).map { _ in Claimant(theirs) }
    for (number, other) in others.enumerated() {
      #expect(theirs.claim(Self.key(10 + number), for: other).claim != nil)
    }
    // Then its end changes nothing of theirs
    let they = try #require(theirs.claim(Self.key(1), for: others[0]).claim)
    claim.finish()
    #expect(theirs.state(of: Self.key(1)) != .done)
    they.finish()
    #expect(theirs.state(of: Self.key(1)) == .done)
  }

  @Test func `when all places of a bucket are taken, who comes asks without a claim`() throws {
    let table = try Self.table(folder)
    let we = Claimant(table)
    let same = (0..<1_000_000).lazy.map(Self.key).filter { ($0.first ^ $0.second) % 4_096 == 7 }.prefix(9)
    let keys = Array(same)
    var claims = keys.prefix(8).compactMap { table.claim($0, for: we).claim }
    #expect(claims.count == 8 && table.claim(keys[8], for: we).isUnneeded)
    claims.removeLast()
    #expect(table.claim(keys[8], for: we).claim != nil)
  }

  @Test func `bytes of any kind in the table do no harm`() throws {
    let table = try Self.table(folder)
    let we = Claimant(table)
    let memory = try Self.memory(folder)
    for seed in 0..<20 {
      try memory.file.writeAll(pattern(seed, count: 8 * ClaimTable.wordCount - 64).rawBytes, at: 64)
      for number in 0..<500 {
        _ = table.state(of: Self.key(number))
        table.claim(Self.key(number), for: we).claim?.finish()
      }
    }
    // A table of another kind is left alone.
    try memory.file.writeAll([9].rawBytes, at: 0)
    #expect(ClaimTable(try Self.words(memory), silenceMax: 1) == nil)
  }

  /// Two at the same moment may both be sent away, but never both have it.
  @Test(.ownThreads) func `many that claim at the same moment never have the same`() async throws {
    let holders = (0..<64).map { _ in Counter() }
    let (wins, doubles) = (Counter(), Counter())
    try await atOnce(4) { thread in
      let table = try Self.table(folder)
      let we = Claimant(table)
      for round in 0..<20_000 {
        let number = (round * 7 + thread) % 64
        guard let claim = table.claim(Self.key(number), for: we).claim else { continue }
        withExtendedLifetime(claim) {
          if holders[number].add() != 1 { doubles.add() }
          wins.add()
          holders[number].add(-1)
          if round % 3 == 0 { claim.finish() }
        }
      }
    }
    #expect(doubles.value == 0 && wins.value > 20_000)
  }
}

extension ClaimTable.Answer {
  fileprivate var claim: Claim? { if case .claimed(let claim, _) = self { claim } else { nil } }
  fileprivate var isNews: Bool { if case .claimed(_, true) = self { true } else { false } }
  fileprivate var isTaken: Bool { if case .taken = self { true } else { false } }
  fileprivate var isUnneeded: Bool { if case .unneeded = self { true } else { false } }
}
