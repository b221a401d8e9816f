import NetSpool
import NetSpoolFoundation
import NetSpoolTesting
import Testing

@testable import TestSupport

// What stands between the two marks is the program and the test of "Guide: tests", to the letter.

// begin: program
/// The program's client of the shop. It is given its engine, and
/// knows nothing of tests.
struct Shop: Sendable {
  struct Item: Codable, Equatable {
    let name: String
    let price: Int
  }

  let engine: NetworkEngine

  func items() async throws -> [Item] {
    try await engine.get("items", as: [Item].self)
  }

  /// Returns when the order is on the disk: then it is sent.
  func order(_ item: Item) async throws -> FrozenTicket {
    let order = engine.operation(path: "orders", method: .post)
      .setBody(try .json(["item": item.name]))
    return try await engine.frozenTicket(for: order)
  }
}

/// A caller takes the whole client, not a protocol for a mock.
func cheapest(in shop: Shop) async throws -> String {
  let items = try await shop.items()
  return items.min { $0.price < $1.price }?.name ?? "nothing"
}
// end: program

// begin: test
@Suite struct ShopTests {
  let folder: TestFolder
  let origin: ScriptedOrigin
  let shop: Shop

  /// Each test has a server, a queue and a folder of its own, so
  /// that all may run at the same time.
  init() throws {
    folder = try TestFolder()
    origin = try ScriptedOrigin()
    var configuration = NetworkEngine.Configuration()
    configuration.queue = try NetworkQueue()
    configuration.retry = .standard
    let engine = try NetworkEngine(
      url: origin.url(), configuration: configuration)
    try engine.useCache(.init(directory: folder.path + "/cache"))
    var freezing = FreezeConfiguration(
      directory: folder.path + "/frozen")
    freezing.backoffBase = .zero
    try engine.useFreezing(freezing)
    shop = Shop(engine: engine)
  }

  @Test func `tells what is cheapest`() async throws {
    origin.on(
      "/items",
      .json([
        ["name": "Map", "price": 12], ["name": "Pen", "price": 2],
      ]))
    let name = try await cheapest(in: shop)
    #expect(name == "Pen")
  }

  @Test func `an answer with max-age is asked for once`()
    async throws
  {
    let list = Answer.json([["name": "Map", "price": 12]])
      .header("Cache-Control", "max-age=60")
    origin.on("/items", list)
    for _ in 0..<3 { _ = try await shop.items() }
    #expect(origin.hits("/items") == 1)
  }

  @Test func `a busy server is asked again`() async throws {
    origin.enqueue(
      .status(503).header("Retry-After", "0"), .hangUp,
      for: "/items")
    origin.on("/items", .json([]))
    let items = try await shop.items()
    #expect(items.isEmpty && origin.hits("/items") == 3)
  }

  @Test func `a list that breaks off is an error`() async throws {
    let list = Answer.json([["name": "Map", "price": 12]])
    origin.on("/items", list.closeAfter(10))
    await #expect(throws: NetworkError.self) {
      try await shop.items()
    }
  }

  @Test func `an order outlives a server that is down`()
    async throws
  {
    origin.stop()
    let map = Shop.Item(name: "Map", price: 12)
    let ticket = try await shop.order(map)
    origin.on("/orders", .status(201))
    try origin.restart()
    let outcome = await ticket.outcome
    #expect(try outcome.get().status == 201)
    let request = try #require(origin.requests.last)
    #expect(request.text == "{\"item\":\"Map\"}")
    #expect(request.header("Idempotency-Key") != nil)
  }
}
// end: test

@Suite struct WholeClientArticleTests {
  @Test(arguments: ["program", "test"]) func `the article shows what is tested here`(_ part: String) throws {
    let here = String(#filePath)
    let root = here.split(separator: "Tests/NetSpoolFoundationTests/")[0]
    let article = try TestFiles.text("\(root)Sources/NetSpool/NetSpool.docc/GuideTests.md")
    let text = try TestFiles.text(here)
    let code = text.split(separator: "// begin: \(part)\n").last?.split(separator: "// end: \(part)\n").first
    #expect(article.contains(try #require(code)), "copy the part `\(part)` of \(here) into the article")
  }
}
