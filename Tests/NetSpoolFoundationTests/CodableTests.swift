import Foundation
import NetSpool
import NetSpoolFoundation
import NetSpoolTesting
import Testing

@testable import TestSupport

@Suite("Values of one's own, there and back")
struct CodableTests {
  struct Order: Codable, Hashable, Sendable {
    var article: String
    var count: Int
    var placed: Date
    var notes: [String: Bool]
  }

  static let order = Order(
    article: "é & <4711>", count: -3, placed: Date(timeIntervalSinceReferenceDate: 700_000_000),
    notes: ["urgent": true])

  /// Sends a body to an origin that answers with what it got.
  func echo(_ body: NetworkRequest.Body, _ check: (NetworkResponse, RecordedRequest) throws -> Void)
    async throws
  {
    try await withOrigin { engine, origin in
      origin.on("/") { .bytes($0.body) }
      let url = try #require(URL(string: origin.url("/")))
      let response = try await engine.response(for: NetworkRequest(url: url, method: .post, body: body))
      try check(response, try #require(origin.requests.first))
    }
  }

  @Test func `JSON`() async throws {
    try await echo(.json(Self.order)) { response, request in
      #expect(request.header("Content-Type") == "application/json")
      let read = try response.decoded(as: Order.self)
      #expect(read == Self.order)
    }
  }

  @Test func `JSON with encoder and decoder of one's own`() async throws {
    let encoder = JSONEncoder()
    let decoder = JSONDecoder()
    encoder.dateEncodingStrategy = .iso8601
    decoder.dateDecodingStrategy = .iso8601
    try await echo(.json(Self.order, encoder: encoder)) { response, _ in
      let read: Order = try response.decoded(decoder: decoder)
      #expect(read == Self.order)
    }
  }

  @Test func `Bytes and literals keep their meaning beside values`() throws {
    let bodies: [NetworkRequest.Body] = [.json([UInt8]("{}".utf8)), try .json(["a": [1.5]])]
    let texts = bodies.map { body in
      if case .json(let bytes) = body { String(decoding: bytes, as: UTF8.self) } else { "no JSON" }
    }
    #expect(texts == ["{}", #"{"a":[1.5]}"#])
  }

  @Test func `a value, a URL and a file are each got by one call`() async throws {
    let folder = try TestFolder()
    let origin = try ScriptedOrigin()
    let engine = try NetworkEngine(url: origin.url())
    origin.on("/a", .json([1, 2]))
    let url = try #require(URL(string: origin.url("/a")))
    #expect(try await engine.get("a", as: [Int].self) == [1, 2])
    #expect(try await NetworkEngine().get(url, headers: ["X-A": "1"]).text == "[1,2]")
    #expect(origin.requests.last?.header("X-A") == "1")
    try await engine.download(url, to: URL(fileURLWithPath: folder["file"]))
    #expect(try folder.read("file") == Array("[1,2]".utf8))
    let error = await #expect(throws: NetworkError.self) { try await engine.download(url, to: url) }
    #expect(error?.code == .invalidConfiguration)
    let wrong = await #expect(throws: NetworkError.self) { try await engine.get("a", as: String.self) }
    #expect(wrong?.code == .decodeFailed)
  }

  @Test func `Text that is JSON already goes as it is`() async throws {
    try await echo(.json("{\"a\":\"é\"}")) { response, request in
      #expect(request.text == "{\"a\":\"é\"}")
      #expect(request.header("Content-Type") == "application/json")
      let read = try response.decoded(as: [String: String].self)
      #expect(read == ["a": "é"])
    }
  }

  @Test(arguments: [PropertyListSerialization.PropertyListFormat.xml, .binary])
  func `Property lists`(_ format: PropertyListSerialization.PropertyListFormat) async throws {
    try await echo(.propertyList(encoding: Self.order, format: format)) { response, request in
      #expect(request.header("Content-Type") == "application/x-plist")
      #expect(request.body.starts(with: Array("bplist".utf8)) == (format == .binary))
      let read = try response.decoded(as: Order.self, decoder: PropertyListDecoder())
      #expect(read == Self.order)
    }
  }

  @Test(arguments: [nil, "image/png"])
  func `Data, with a type and without`(type: String?) async throws {
    let slice = Data([9, 0, 255, 128, 9])[1..<4]
    try await echo(.data(slice, contentType: type)) { response, request in
      #expect(request.body == [0, 255, 128])
      #expect(request.header("Content-Type") == type)
      #expect(response.data == Data([0, 255, 128]))
    }
  }

  @Test func `What cannot be encoded throws before anything is sent`() {
    #expect(throws: EncodingError.self) { try NetworkRequest.Body.json([Double.nan]) }
    #expect(throws: EncodingError.self) { try NetworkRequest.Body.propertyList(encoding: "alone") }
    #expect(throws: EncodingError.self) {
      try NetworkRequest.Body.propertyList(encoding: ["a"], format: .openStep)
    }
  }

  @Test func `JSON of another shape is an error with the decoder's inside, and the bytes stay`() async throws
  {
    try await withResponse(Array(#"{"article": 1}"#.utf8)) { response in
      let error = #expect(throws: NetworkError.self) { try response.decoded(as: Order.self) }
      #expect(error?.code == .decodeFailed && error?.thrown is DecodingError)
      #expect(error?.response?.text == #"{"article": 1}"#)
      #expect(response.text == #"{"article": 1}"#)
    }
  }

  @Test func `An event's text is decoded, and what is no JSON is an error with the decoder's inside`()
    async throws
  {
    try await withOrigin { engine, origin in
      let events = #"data: {"name": "a"}"# + "\n\ndata: no\n\n"
      origin.fallback(.text(events).header("Content-Type", "text/event-stream"))
      var iterator = try await engine.stream(NetworkRequest(path: "/")).events.makeAsyncIterator()
      let (first, second) = (try await iterator.next(), try await iterator.next())
      #expect(try first?.decoded(as: [String: String].self) == ["name": "a"])
      let error = #expect(throws: NetworkError.self) { try second?.decoded(as: [String: String].self) }
      #expect(error?.code == .decodeFailed && error?.thrown is DecodingError)
    }
  }
}
