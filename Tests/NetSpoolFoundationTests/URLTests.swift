import Foundation
import NetSpool
import NetSpoolFoundation
import NetSpoolTesting
import Testing

@Suite("URLs")
struct URLTests {
  @Test func `A URL and its base make an operation, and the answer names the last URL`() async throws {
    try await withOrigin { engine, origin in
      // given
      origin.on("/a/b", .redirect(to: "/c?d=%C3%A9"))
      origin.on("/c", .text("here"))
      let base = try #require(URL(string: origin.url("/a/")))
      let url = try #require(URL(string: "b", relativeTo: base))
      // when
      let response = try await engine.response(for: engine.operation(url: url, parameters: ["x": "1"]))
      // then
      #expect(response.text == "here")
      #expect(response.url == URL(string: origin.url("/c?d=%C3%A9")))
      #expect(origin.requests.first?.target == "/a/b?x=1")
    }
  }

  @Test(arguments: ["file:///etc/hosts", "relative", "ftp://a/"])
  func `A URL that is not http is an error of the operation`(_ text: String) async throws {
    let url = try #require(URL(string: text))
    try await withOrigin { engine, _ in
      let error = await #expect(throws: NetworkError.self) {
        try await engine.response(for: NetworkRequest(url: url))
      }
      #expect(error?.code == .invalidURL)
    }
  }

  @Test func `A file URL names the file of a download, whatever is escaped in it`() async throws {
    let folder = FileManager.default.temporaryDirectory.appendingPathComponent("netspool \(UUID()) é")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: folder) }
    let file = folder.appendingPathComponent("a b")
    try await withOrigin { engine, origin in
      origin.enqueue(.text("one"), .text("two"))
      for append in [false, true] {
        let stream = try FileDownloadStream(url: file, append: append)
        _ = try await engine.response(for: engine.operation(path: "/").addDownloadStream(stream))
      }
      #expect(try Data(contentsOf: file) == Data("onetwo".utf8))
    }
  }

  @Test func `A URL that is no file is refused`() throws {
    let url = try #require(URL(string: "https://example.org/a"))
    let error = #expect(throws: NetworkError.self) { try FileDownloadStream(url: url) }
    #expect(error?.code == .invalidConfiguration)
  }

  @Test func `An engine takes a URL as its base`() async throws {
    try await withOrigin { _, origin in
      origin.fallback { .text($0.target) }
      let engine = try NetworkEngine(url: try #require(URL(string: origin.url("/v1"))))
      #expect(try await engine.get("users").text == "/v1/users")
    }
  }
}
