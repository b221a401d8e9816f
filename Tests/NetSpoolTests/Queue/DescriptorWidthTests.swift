import Testing

@testable import NetSpool

struct DescriptorWidthTests {
  private var width = DescriptorWidth()

  private mutating func count(free: Int, running: Int, unopened: Int = 0) -> Int {
    width.count(free: free, limit: 64, running: running, unopened: unopened, now: 0)
    return width.width
  }

  @Test mutating func `what is free is divided among those that begin`() {
    // Four are left for others, half of an eighth of 64
    #expect(count(free: 44, running: 0) == 13)
    #expect(count(free: 32, running: 12) == 21)
    #expect(count(free: 4, running: 30) == 30)
    #expect(count(free: 44, running: 10, unopened: 20) == 16)
  }

  @Test mutating func `a single one may always run and without a limit all`() {
    #expect(count(free: 0, running: 0) == 1)
    #expect(count(free: 3, running: 7) == 6)
    #expect(count(free: .max, running: 7) == .max)
  }

  @Test mutating func `the last are for engines that have none under way`() {
    #expect(count(free: 44, running: 0) == 13 && width.crowd == 9)
    #expect(count(free: 0, running: 0) == 1 && width.crowd == 1)
    #expect(count(free: 308, running: 0) == 101 && width.crowd == 92)
    // An engine that has some stops before the rest of the process has too few, whatever that has taken meanwhile
    #expect(count(free: 10, running: 12) == 14 && width.crowd == 9)
    #expect(count(free: 4, running: 12) == 12 && width.crowd == 9)
  }

  @Test mutating func `it is counted each second and sooner when a request waits`() {
    #expect(width.wantsCount(running: 0, now: 0))
    _ = count(free: 44, running: 0)
    #expect(!width.wantsCount(running: 3, now: 999_999) && width.wantsCount(running: 3, now: 1_000_000))
    #expect(!width.wantsCount(running: 9, now: 49_999) && width.wantsCount(running: 9, now: 50_000))
  }

  @Test mutating func `a failed attempt leaves as many as run`() {
    _ = count(free: 44, running: 0)
    width.didFail(running: 5, now: 0)
    #expect(width.width == 5)
    width.didFail(running: 0, now: 0)
    #expect(width.width == 1)
  }
}
