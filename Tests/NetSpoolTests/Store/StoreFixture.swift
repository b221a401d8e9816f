import Glibc
import Testing

@testable import NetSpool

/// A directory of its own for a store, gone with the last reference.
final class StoreDirectory: Sendable {
  let path: String

  init() throws {
    var template = Array("/tmp/netspool-store-XXXXXX".utf8CString)
    path = try #require(unsafe mkdtemp(&template).map { unsafe String(cString: $0) })
  }

  deinit { Self.remove(path) }

  var dataPath: String { path + "/data.mdb" }

  func open(_ change: (inout CacheStoreSettings) -> Void = { _ in }) throws -> CacheStore {
    var settings = CacheStoreSettings(directory: path)
    settings.bytesMax = 64 << 20
    change(&settings)
    return try CacheStore.open(settings)
  }

  /// The names in it, sorted.
  var names: [String] { Self.names(path).sorted() }

  func read(_ name: String) -> [UInt8] {
    guard let file = unsafe fopen(path + "/" + name, "r") else { return [] }
    defer { unsafe fclose(file) }
    var bytes: [UInt8] = []
    var chunk = [UInt8](repeating: 0, count: 1 << 16)
    while true {
      let count = unsafe fread(&chunk, 1, chunk.count, file)
      if count == 0 { return bytes }
      bytes += chunk.prefix(count)
    }
  }

  func write(_ bytes: [UInt8], to name: String) {
    guard let file = unsafe fopen(path + "/" + name, "w") else { return }
    unsafe fwrite(bytes, 1, bytes.count, file)
    unsafe fclose(file)
  }

  func symlink(_ name: String, to target: String) throws {
    try #require(unsafe Glibc.symlink(target, path + "/" + name) == 0)
  }

  private static func names(_ path: String) -> [String] {
    guard let stream = unsafe opendir(path) else { return [] }
    defer { unsafe closedir(stream) }
    var names: [String] = []
    while let entry = unsafe readdir(stream) {
      names.append(
        unsafe withUnsafeBytes(of: &entry.pointee.d_name) { name in
          unsafe String(decoding: name.prefix { $0 != 0 }, as: UTF8.self)
        })
    }
    return names.filter { $0 != "." && $0 != ".." }
  }

  private static func remove(_ path: String) {
    unsafe chmod(path, 0o700)
    for name in names(path) where unsafe unlink(path + "/" + name) != 0 { remove(path + "/" + name) }
    unsafe rmdir(path)
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

/// This test runs under AddressSanitizer or ThreadSanitizer, whose own memory hides ours.
let isSanitized =
  unsafe dlsym(nil, "__asan_init") != nil || dlsym(nil, "__tsan_init") != nil
