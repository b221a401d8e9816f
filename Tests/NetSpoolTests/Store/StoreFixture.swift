@testable import NetSpool
@testable import TestSupport

/// A folder that a store may have.
extension TestFolder {
  func open(_ change: (inout CacheStoreSettings) -> Void = { _ in }) throws -> CacheStore {
    var settings = CacheStoreSettings(directory: path)
    settings.bytesMax = 64 << 20
    // A busy machine is no disk that hangs
    settings.lookPatience = 60_000_000
    change(&settings)
    return try CacheStore.open(settings)
  }

  /// Changes the bytes of a file that no store has open.
  func change(_ name: String = "data.mdb", _ change: (inout [UInt8]) throws -> Void) throws {
    var bytes = try read(name)
    try change(&bytes)
    try write(name, bytes)
  }

  /// The damaged files that were moved aside.
  var badFiles: [String] { names.filter { $0.hasPrefix("data.mdb.bad") } }
}

extension EnvironmentOpening.Found {
  /// Why a file was moved aside.
  var damage: String? { if case .damaged(_, let why) = self { why } else { nil } }
}

extension CacheStore {
  /// Puts a body under a text's key.
  @discardableResult
  func put(_ key: String, _ body: [UInt8], namespace: String = "n", metadata: [UInt8] = []) -> Bool {
    put(StoreKey(key), namespace: namespace, metadata: metadata, body: body)
  }

  /// The same, written when it returns.
  func write(_ key: String, _ body: [UInt8], namespace: String = "n", metadata: [UInt8] = []) {
    put(key, body, namespace: namespace, metadata: metadata)
    flush()
  }

  /// What is stored under a text's key.
  func lookup(_ key: String) -> StoreHit? { lookup(StoreKey(key)) }
}

extension StoreKey {
  init(_ text: String) { self.init(Array(text.utf8)) }
}

extension StoreHit {
  var bytes: [UInt8] { body.array }
}

extension StoreHit? {
  var isMissing: Bool { if case nil = self { true } else { false } }
}

/// Bytes that differ for every number.
func pattern(_ number: Int, count: Int) -> [UInt8] { SinkFixture.pattern(count, seed: UInt64(number)) }
