import Testing

@testable import NetSpoolCLI

@Suite struct ByteBrakeTests {
  private let start: Int64 = 1_000_000_000

  private func brake(_ text: String) throws -> ByteBrake { ByteBrake(try #require(ByteSize(text))) }

  @Test func `a tenth of a second may come at once and the rest comes with time`() throws {
    let brake = try brake("1000")
    #expect(brake.take(5_000, now: start) == 100)
    #expect(brake.take(5_000, now: start) == 0)
    #expect(brake.take(5_000, now: start + 50_000_000) == 50)
    // What is not taken in time is lost: a pause earns no burst.
    #expect(brake.take(5_000, now: start + 60_000_000_000) == 100)
  }

  @Test(arguments: ["1", "17", "4k", "1M"])
  func `over time the rate is the one that was asked for`(rate: String) throws {
    let brake = try brake(rate)
    let perSecond = Int(try #require(ByteSize(rate)).bytes)
    var taken = 0
    for tick in 0..<2_000 { taken += brake.take(1 << 20, now: start + Int64(tick) * 10_000_000) }
    #expect(abs(taken - 20 * perSecond) <= max(1, perSecond / 5))
  }

  @Test func `never more than there is`() throws { #expect(try brake("1M").take(10, now: start) == 10) }
}
