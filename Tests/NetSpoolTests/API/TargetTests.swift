import NetSpool
import NetSpoolTesting
import Testing

@Suite("What is asked for")
struct TargetTests {
  @Test(arguments: [
    "/", "/?", "/a//b", "/a%2Fb%2fc", "/%7Ea?x=%C3%BC&y=%c3", "/a;b=c,d/(e)!*'", "/?a=b?c/d", "/a+b?c+d",
    "/a:b@c",
  ])
  func `is what was given to the byte`(_ target: String) async throws {
    try await withWire { wire in
      wire.origin.fallback(.text("ok"))
      for next in [target, "/plain", target, "/plain?q", target] {
        _ = try await wire.answer(wire.operation(next))
        #expect(wire.origin.requests.last?.target == next)
      }
    }
  }
}
