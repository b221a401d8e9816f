@testable import NetSpool
@testable import TestSupport

/// A folder that a store may have.
extension TestFolder {
  var dataPath: String { self["data.mdb"] }

  func open(_ change: (inout CacheStoreSettings) -> Void = { _ in }) throws -> CacheStore {
    var settings = CacheStoreSettings(directory: path)
    settings.bytesMax = 64 << 20
    change(&settings)
    return try CacheStore.open(settings)
  }
}

extension StoreKey {
  init(_ text: String) { self.init(Array(text.utf8)) }
}

extension StoreHit {
  var bytes: [UInt8] { unsafe body.withUnsafeBytes { unsafe [UInt8]($0) } }
}

extension StoreHit? {
  var isMissing: Bool { if case nil = self { true } else { false } }
}

/// Bytes that differ for every number.
func pattern(_ number: Int, count: Int) -> [UInt8] {
  var random = SplitMix64(seed: UInt64(number))
  var bytes: [UInt8] = []
  bytes.reserveCapacity(count + 8)
  while bytes.count < count {
    var word = random.next()
    for _ in 0..<8 {
      bytes.append(UInt8(truncatingIfNeeded: word))
      word >>= 8
    }
  }
  return Array(bytes.prefix(count))
}
