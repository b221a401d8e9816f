import NetSpool
import NetSpoolFoundation
import NetSpoolTesting
import Testing

@testable import TestSupport

// What stands between the two marks is the program and the test of "Testing your program", to the letter.

// begin: program
/// What the rest of the program knows of the shop's server. It is given its engine, and knows nothing of tests.
struct Shop: Sendable {
  struct Item: Codable, Equatable {
    let name: String
    let price: Int
  }

  let engine: NetworkEngine

  func items() async throws -> [Item] {
    try await engine.get("items").decoded(as: [Item].self)
  }

  /// Returns when the order is safe on the disk: it is sent then, whatever happens.
  func order(_ item: Item) async throws -> FrozenTicket {
    let order = engine.operation(path: "orders", method: .post).setBody(
      .json(Array("{\"item\":\"\(item.name)\"}".utf8)))
    return try await engine.frozenTicket(for: order)
  }
}

/// A caller of the client: it takes the whole client, not a protocol that a mock would fill in.
func cheapest(in shop: Shop) async throws -> String {
  try await shop.items().min { $0.price < $1.price }?.name ?? "nothing"
}
// end: program

// begin: test
@Suite struct ShopTests {
  let folder: TestFolder
  let origin: ScriptedOrigin
  let shop: Shop

  /// Each test has a server, a queue and a folder of its own, so that all may run at the same time.
  init() throws {
    folder = try TestFolder()
    origin = try ScriptedOrigin()
    var configuration = NetworkEngine.Configuration()
    configuration.scheme = .http
    configuration.port = origin.port
    configuration.queue = try NetworkQueue()
    configuration.retry = .standard
    let engine = try NetworkEngine(host: "127.0.0.1", configuration: configuration)
    var cache = CacheConfiguration()
    cache.directory = folder.path + "/cache"
    try engine.useCache(cache)
    var freezing = FreezeConfiguration()
    freezing.directory = folder.path + "/frozen"
    freezing.backoffBase = .zero
    try engine.useFreezing(freezing)
    shop = Shop(engine: engine)
  }

  @Test func `tells what is cheapest`() async throws {
    origin.on("/items", .json([["name": "Map", "price": 12], ["name": "Pen", "price": 2]]))
    let name = try await cheapest(in: shop)
    #expect(name == "Pen")
  }

  @Test func `what the server lets us keep is asked for once`() async throws {
    origin.on("/items", .json([["name": "Map", "price": 12]]).header("Cache-Control", "max-age=60"))
    for _ in 0..<3 { _ = try await shop.items() }
    #expect(origin.hits("/items") == 1)
  }

  @Test func `a server that is busy is asked again`() async throws {
    origin.enqueue(.status(503).header("Retry-After", "0"), .hangUp, for: "/items")
    origin.on("/items", .json([]))
    let items = try await shop.items()
    #expect(items.isEmpty && origin.hits("/items") == 3)
  }

  @Test func `a list that breaks off is no list`() async throws {
    origin.on("/items", Answer.json([["name": "Map", "price": 12]]).closeAfter(10))
    await #expect(throws: NetworkError.self) { try await shop.items() }
  }

  @Test func `an order outlives a server that is down`() async throws {
    origin.stop()
    let ticket = try await shop.order(Shop.Item(name: "Map", price: 12))
    try origin.restart()
    origin.on("/orders", .status(201))
    let outcome = await ticket.outcome
    #expect(try outcome.get().status == 201)
    #expect(origin.requests.last?.text == "{\"item\":\"Map\"}")
    #expect(origin.requests.last?.header("Idempotency-Key") != nil)
  }
}
// end: test

@Suite struct WholeClientArticleTests {
  @Test(arguments: ["program", "test"]) func `the article shows what is tested here`(_ part: String) throws {
    let here = String(#filePath)
    let root = here.split(separator: "Tests/NetSpoolFoundationTests/")[0]
    let article = try TestFiles.text("\(root)Sources/NetSpool/NetSpool.docc/TestingYourProgram.md")
    let text = try TestFiles.text(here)
    let code = text.split(separator: "// begin: \(part)\n").last?.split(separator: "// end: \(part)\n").first
    #expect(article.contains(try #require(code)), "copy the part `\(part)` of \(here) into the article")
  }
}
