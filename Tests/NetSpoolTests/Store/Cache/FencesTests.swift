import Testing

@testable import NetSpool

struct FencesTests {
  @Test func `a change holds back what was asked for before it`() {
    var fences = Fences()
    #expect(fences.isEmpty && !fences.holdBack(7, askedAt: 1))
    fences.add(7, at: 10)
    #expect(
      fences.holdBack(7, askedAt: 10) && !fences.holdBack(7, askedAt: 11) && !fences.holdBack(8, askedAt: 1))
    fences.addAll(at: 20)
    #expect(fences.holdBack(7, askedAt: 20) && fences.holdBack(8, askedAt: 20))
    #expect(!fences.holdBack(7, askedAt: 21) && !fences.isEmpty)
  }

  @Test func `with more changes than are told apart all that was asked for before counts as changed`() {
    var fences = Fences()
    let count = UInt64(Fences.resourcesMax)
    for resource in 1...count { fences.add(resource, at: 10) }
    #expect(!fences.holdBack(count + 2, askedAt: 5))
    fences.add(count + 1, at: 20)
    #expect(fences.holdBack(count + 2, askedAt: 20) && !fences.holdBack(count + 2, askedAt: 21))
  }
}
