import NetSpool
import NetSpoolTesting
import Testing

@testable import TestSupport

/// The command is run by the real curl; what arrives must be what the operation itself sends.
@Suite("The curl command of an operation", .enabled(if: findProgram("curl") != nil, "curl is not installed"))
struct CurlCommandWireTests {
  struct Sample: Sendable, CustomTestStringConvertible {
    let name: String
    let make: @Sendable (Wire, TestFolder) throws -> NetworkOperation
    var testDescription: String { name }
  }

  static let samples: [Sample] = [
    Sample(name: "plain GET") { wire, _ in wire.operation("/a/b?x=%C3%BC&y=1+2") },
    Sample(name: "shell characters") { wire, _ in
      wire.operation("/a?q=$(id)&r='`\"*~#no").setHeader("X-Odd", "it's $HOME \"`x`\" \\ !*")
    },
    Sample(name: "fields") { wire, _ in
      wire.operation("/a").setHeader("X-A", "1").addHeader("X-A", "2").setHeader("X-Empty", "")
        .setHeader("Accept", "text/html").setHeader("User-Agent", "own/1").setAuthorization("S3CR3T")
    },
    Sample(name: "HEAD") { wire, _ in wire.operation("/a", .head) },
    Sample(name: "DELETE") { wire, _ in wire.operation("/a", .delete) },
    Sample(name: "own method") { wire, _ in wire.operation("/a", "PROPFIND").setHeader("Depth", "1") },
    Sample(name: "empty POST") { wire, _ in wire.operation("/a", .post) },
    Sample(name: "form") { wire, _ in
      wire.engine.operation(
        url: wire.origin.url("/a"), method: .post, parameters: ["a b": "ü&='\n", "at": "@file", "c": ""])
    },
    Sample(name: "JSON") { wire, _ in
      wire.operation("/a", .patch).setBody(.json(Array(#"{"a":"it's"}"#.utf8)))
    },
    Sample(name: "text that looks like a file") { wire, _ in
      wire.operation("/a", .post).setBody(.bytes(Array("@/etc/passwd".utf8), contentType: "text/plain"))
    },
    Sample(name: "binary") { wire, _ in
      wire.operation("/a", .put).setBody(.bytes(Array(0...255), contentType: "application/x-own"))
    },
    Sample(name: "file") { wire, folder in
      wire.operation("/a", .put).setBody(.file(try folder.write("it's a file", BodyPattern.bytes(70_000))))
    },
    Sample(name: "multipart") { wire, folder in
      wire.operation("/a").addFile(
        try folder.write("a;b,c.txt", Array("text".utf8)), forKey: "f", mimeType: "text/x-a"
      )
      .addData(Array("it's; \"quoted\"\n@x".utf8), forKey: "t").addData(
        [1, 2, 255], forKey: "b", mimeType: "image/png", fileName: "b.png")
    },
    Sample(name: "multipart with bytes of all kinds") { wire, folder in
      wire.operation("/a").addData([0, 0x1B, 255], forKey: "a=b")
        .addFile(try folder.write("it's", [0, 1, 2]), forKey: "f")
        .addData(Array("text".utf8), forKey: "t", mimeType: "text/plain; charset=utf-8")
    },
    Sample(name: "what a terminal would obey") { wire, _ in
      wire.operation("/a", .post).setBody(.bytes(Array("\u{1B}[2J".utf8), contentType: "x/y"))
    },
    Sample(name: "more than an argument holds") { wire, _ in
      let text = String(repeating: "it's é\n", count: 17_000)
      return wire.operation("/a", .post).setBody(.bytes(Array(text.utf8), contentType: "x/y"))
    },
  ]

  @Test(arguments: samples) func `sends the same request`(_ sample: Sample) async throws {
    let folder = try TestFolder()
    try await withWire({ $0.headers = ["X-Engine": "all"] }) { wire in
      wire.origin.fallback(.text("ok"))
      let operation = try sample.make(wire, folder)
      let command = operation.curlCommand(revealingSecrets: true)
      _ = try await wire.answer(operation)
      _ = try runShell("\(command) -sS --noproxy '*' -q")
      let requests = wire.origin.requests
      try #require(requests.count == 2, "\(command)")
      try compare(requests[0], requests[1], command)
    }
  }

  private func compare(_ own: RecordedRequest, _ curl: RecordedRequest, _ command: String) throws {
    #expect(own.method == curl.method && own.target == curl.target, "\(command)")
    if own.header("Content-Type")?.hasPrefix("multipart/") == true {
      let parts = try (MultipartUploadTests.parts(of: own), MultipartUploadTests.parts(of: curl))
      #expect(parts.0.map(\.content) == parts.1.map(\.content), "\(command)")
      #expect(parts.0.map { lines($0.head) } == parts.1.map { lines($0.head) }, "\(command)")
    } else {
      #expect(own.body == curl.body, "\(command)")
      #expect(own.header("Content-Type") == curl.header("Content-Type"), "\(command)")
    }
    #expect(fields(own) == fields(curl), "\(command)")
  }

  private func lines(_ head: String) -> Set<String> { Set(head.split(separator: "\r\n").map(String.init)) }

  /// What belongs to the connection, to the body's coding and to curl itself is left out.
  private func fields(_ request: RecordedRequest) -> [String] {
    let left = ["content-length", "content-type", "accept-encoding", "expect", "host"]
    return request.headers.filter { !left.contains($0.name.lowercased()) }.map(\.description).sorted()
  }

  @Test func `masks secrets unless told otherwise`() throws {
    let wire = try Wire()
    let operation = wire.engine.operation(url: "http://user:S3CR3T@127.0.0.1/a?token=S3CR3T&x=1")
      .setAuthorization("S3CR3T").setHeader("Cookie", "s=S3CR3T").setHeader("X-Api-Key", "S3CR3T")
    for text in [operation.description, operation.curlCommand, "\(operation)", operation.request.curlCommand]
    {
      #expect(!text.contains("S3CR3T") && text.contains("x=1"))
    }
    #expect(operation.curlCommand(revealingSecrets: true).contains("Bearer S3CR3T"))
  }

  @Test func `errors mask the URL`() async throws {
    try await withWire { wire in
      wire.origin.fallback(.text("no", status: 401))
      let url = "http://user:S3CR3T@127.0.0.1:\(wire.origin.port)/a?sig=S3CR3T"
      let error = try await wire.failure(wire.engine.operation(url: url))
      #expect(!"\(error)".contains("S3CR3T") && error.url?.contains("S3CR3T") == false)
      #expect(error.url?.contains("/a?sig=") == true)
    }
  }
}
