import Synchronization

package struct StoreKey: Hashable, Sendable {
  let fullKey: [UInt8]; package init(_ k: [UInt8]) { fullKey = k }
}
package final class LeasedBytes: Sendable, LentBytes {
  let bytes: [UInt8]
  init(_ b: [UInt8]) { bytes = b }
  package var count: Int { bytes.count }
  package var rawBytes: RawSpan {
    @_lifetime(borrow self) get {
      let b = bytes; return unsafe _overrideLifetime(b.rawBytes, borrowing: self)
    }
  }
  package func withUnsafeBytes<Result, Failure: Error>(
    _ body: (UnsafeRawBufferPointer) throws(Failure) -> Result
  ) throws(Failure) -> Result { let b = bytes; return try unsafe b.rawBytes.withUnsafeBytes(body) }
}
package struct StoreHit: Sendable {
  let metadata: [UInt8]; package let body: LeasedBytes; package let bodyID: UInt64
  package func withMetadata<R>(_ b: (RawSpan) -> R) -> R { b(metadata.rawBytes) }
}
package struct CacheStatistics: Sendable, Hashable { package init() {} }
package struct CacheStoreSettings: Sendable {
  package var directory: String; package var bytesMax = 1 << 30; package var residentBytesMax: Int?;
  package init(directory: String) { self.directory = directory }
}
package final class CacheStore: Sendable {
  let table = Mutex<[StoreKey: StoreHit]>([:])
  package static func open(_ s: CacheStoreSettings) throws(Failure) -> CacheStore { CacheStore() }
  package func lookup(_ key: StoreKey) -> StoreHit? { table.withLock { $0[key] } }
  package func put(_ key: StoreKey, namespace: String, metadata: [UInt8], body: [UInt8]) {
    table.withLock {
      $0[key] = StoreHit(
        metadata: metadata, body: LeasedBytes(body), bodyID: UInt64.random(in: 0...UInt64.max))
    }
  }
  package func replaceMetadata(_ key: StoreKey, metadata: [UInt8], ifBodyIs id: UInt64) {
    table.withLock {
      if let h = $0[key], h.bodyID == id { $0[key] = StoreHit(metadata: metadata, body: h.body, bodyID: id) }
    }
  }
  package func remove(_ key: StoreKey) { table.withLock { $0[key] = nil } }
  package func removeAll(namespace: String) { table.withLock { $0 = [:] } }
  package func removeAll(namespace: String, keyPrefix: [UInt8]) {
    table.withLock { $0 = $0.filter { !$0.key.fullKey.starts(with: keyPrefix) } }
  }
  package func setQuota(_ b: Int, namespace: String) {}
  package var statistics: CacheStatistics { CacheStatistics() }
  package var pendingBytes: Int { 0 }
  package func onRoom(_ b: @escaping @Sendable () -> Void) { b() }
  package func flush() {}
  package func close() {}
}
