import Testing

@testable import NetSpool
@testable import TestSupport

/// What processes tell each other of changed resources, in memory that they share.
struct FenceWordsTests {
  private func makeWords(_ name: String) throws -> FenceWords {
    let memory = try SharedMemory("fencetest", named: name, bytes: 8 * FenceWords.wordCount)
    return try #require(FenceWords(try SharedWords(in: memory, count: FenceWords.wordCount)))
  }

  @Test func `a change holds back what was asked for before it, in every process`() throws {
    let name = String(UInt64.random(in: 0...UInt64.max), radix: 16)
    let (here, there) = (try makeWords(name), try makeWords(name))
    #expect(!there.holdBack(7, askedAt: 100))
    here.note(7, at: 100)
    #expect(there.holdBack(7, askedAt: 100) && there.holdBack(7, askedAt: 99))
    #expect(!there.holdBack(7, askedAt: 101) && !there.holdBack(8, askedAt: 1))
    // An older one that comes late takes nothing back, and what nobody asked for is never held back.
    there.note(7, at: 50)
    #expect(here.holdBack(7, askedAt: 100) && !here.holdBack(7, askedAt: .max))
    there.noteAll(at: 200)
    #expect(here.holdBack(8, askedAt: 200) && !here.holdBack(8, askedAt: 201))
  }
}
