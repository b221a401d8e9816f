import NetSpool
import NetSpoolTesting
import Testing

/// Escapes in a host are undone once by libcurl's parser: were the rest sent through it again, another host would be
/// asked than the one that was judged.
@Suite("A host that is escaped twice")
struct EncodedHostTests {
  @Test(arguments: ["http://%2580/", "http://%2531%2532%2537.0.0.1:1/", "http://a%252525b/"])
  func `is refused in a URL and in a redirect`(url: String) async throws {
    try await withEngine { engine, origin in
      // Given
      origin.on("/away", .redirect(to: url))
      // When, then
      #expect(await engine.end(of: engine.operation(url: url)).code == .invalidURL)
      #expect(await engine.end(of: engine.operation(path: "/away")).code == .badLocation)
    }
  }
}
