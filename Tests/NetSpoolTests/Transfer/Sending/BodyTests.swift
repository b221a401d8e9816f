import NetSpool
import NetSpoolTesting
import Testing

@testable import TestSupport

@Suite("Bodies as they arrive")
struct BodyTests {
  private func sent(_ make: (Wire) -> NetworkOperation) async throws -> RecordedRequest {
    var recorded: RecordedRequest?
    try await withWire { wire in
      wire.origin.fallback(.text("ok"))
      _ = try await wire.answer(make(wire))
      #expect(wire.origin.rejectedCount == 0 && wire.origin.requestCount == 1)
      recorded = wire.origin.requests.first
    }
    return try #require(recorded)
  }

  @Test func `flat JSON is made of parameters`() async throws {
    let request = try await sent { wire in
      wire.engine.operation(url: wire.origin.url("/a"), method: .post, parameters: ["a": "1\"", "b": "ü"])
        .configure { $0.parameterEncoding = .json }
    }
    #expect(request.text == #"{"a":"1\"","b":"ü"}"#)
    let typed = try await sent { wire in
      let all: NetworkRequest.Parameters = [
        "n": -1, "u": UInt8(2), "d": 0.5, "f": Float(1.5), "b": true, "s": "3", "i": Double.infinity,
        "c": Character("x"),
      ]
      return wire.engine.operation(url: wire.origin.url("/a"), method: .post, parameters: all)
        .configure { $0.parameterEncoding = .json }
    }
    let last = try await sent { wire in
      var all: NetworkRequest.Parameters = ["page": 1, "name": "a"]
      all.append("page", #"1,"admin":true"#)
      all.append("name", 2)
      return wire.engine.operation(url: wire.origin.url("/a"), method: .post, parameters: all)
        .configure { $0.parameterEncoding = .json }
    }
    #expect(last.text == #"{"page":"1,\"admin\":true","name":2}"#)
    #expect(typed.text == #"{"n":-1,"u":2,"d":0.5,"f":1.5,"b":true,"s":"3","i":"inf","c":"x"}"#)
    #expect(request.header("Content-Type")?.hasPrefix("application/json") == true)
  }

  @Test func `bytes arrive as they are`() async throws {
    let bytes = (0...255).map { UInt8($0) } + BodyPattern.bytes(100_000)
    let request = try await sent { $0.operation("/a", .post).setBody(.bytes(bytes, contentType: "text/xml")) }
    #expect(request.body == bytes && request.header("Content-Type") == "text/xml")
    let json = try await sent { $0.operation("/a").setBody(.json(Array("[1]".utf8))) }
    #expect(json.method == "POST" && json.text == "[1]")
    #expect(json.header("Content-Type")?.hasPrefix("application/json") == true)
    let untyped = try await sent { $0.operation("/a", .put).setBody(.bytes([1, 2])) }
    #expect(untyped.header("Content-Type") == nil && untyped.body == [1, 2])
  }

  @Test func `encoders of the user's own run once`() async throws {
    let calls = Journal<Int>()
    let request = try await sent { wire in
      wire.engine.operation(url: wire.origin.url("/a"), method: .post, parameters: ["a": "1"])
        .configure { request in
          request.body = .custom(contentType: "application/x-own") { parameters in
            calls.add(parameters.count)
            return Array("own:\(parameters["a"] ?? "")".utf8)
          }
        }
    }
    #expect(request.text == "own:1" && request.header("Content-Type") == "application/x-own")
    #expect(calls.entries == [1])
  }

  @Test(arguments: [700_000, 0]) func `files are streamed`(count: Int) async throws {
    let folder = try TestFolder()
    let path = try folder.write("a", BodyPattern.bytes(count))
    let request = try await sent { $0.operation("/a", .put).setBody(.file(path, contentType: "image/x-own")) }
    #expect(request.body == BodyPattern.bytes(count) && request.header("Content-Type") == "image/x-own")
    #expect(request.header("Content-Length") == "\(count)")
  }

  @Test(arguments: ["POST", "PUT", "PATCH"]) func `a missing body has a length`(_ method: String) async throws
  {
    let request = try await sent { $0.operation("/a", NetworkRequest.Method(method)) }
    #expect(request.method == method && request.header("Content-Length") == "0")
    #expect(request.header("Content-Type") == nil)
  }

  @Test(arguments: ["HEAD", "PUT", "PATCH", "DELETE", "OPTIONS", "PURGE", "M-SEARCH", "propfind", "X!#$"])
  func `any token is a method`(_ method: String) async throws {
    #expect(try await sent { $0.operation("/a", NetworkRequest.Method(method)) }.method == method)
    guard method != "HEAD" else { return }
    let withBody = try await sent {
      $0.operation("/a", NetworkRequest.Method(method)).setBody(.bytes([1, 2]))
    }
    #expect(withBody.method == method && withBody.body == [1, 2])
  }

  @Test func `methods do not leak into the next request of a handle`() async throws {
    try await withWire({ $0.queue.sizing = .fixed(1) }) { wire in
      wire.origin.fallback(.text("ok"))
      for method in ["PUT", "GET", "HEAD", "POST", "GET", "DELETE", "HEAD", "PATCH", "GET"] {
        let operation = wire.operation("/a", NetworkRequest.Method(method))
        if ["PUT", "POST"].contains(method) { operation.setBody(.bytes(Array(method.utf8))) }
        _ = try await wire.answer(operation)
        let request = try #require(wire.origin.requests.last)
        #expect(request.method == method)
        #expect(request.text == (["PUT", "POST"].contains(method) ? method : ""))
        if ["GET", "HEAD", "DELETE"].contains(method) { #expect(request.header("Content-Length") == nil) }
      }
      #expect(wire.origin.connectionCount == 1)
    }
  }
}
