/// A record is found by it: a key of any length, and its digest under which it is filed. The full key is
/// compared on every read, so a collision is a miss and never a wrong answer.
///
/// The first word of the digest stands for the resource, for any asker and in any variant: all that is stored of one
/// stands side by side in the tree, so that it is found and removed without a search.
struct StoreKey: Sendable, Hashable {
  /// Longer ones cannot be stored.
  static let bytesMax = Int(UInt16.max)

  let fullKey: [UInt8]
  let digest: KeyDigest

  /// The same in every process, and in no other use of the hash: "NetSpool", "entries\0".
  private static let hashKey: (UInt64, UInt64) = (0x6C6F_6F70_5374_654E, 0x0073_6569_7274_6E65)

  init(_ fullKey: [UInt8]) {
    self.fullKey = fullKey
    digest = KeyDigest(SipHash.hash(fullKey.rawBytes, key: Self.hashKey))
  }

  /// Whatever stands under a digest, for removing it.
  init(anyWith digest: KeyDigest) {
    fullKey = []
    self.digest = digest
  }

  /// `resource`: the bytes that name it; `part`: of the store, which shares nothing with others.
  init(_ fullKey: [UInt8], resource: Range<Int>, part: UInt64) {
    self.fullKey = fullKey
    let bytes = fullKey.rawBytes
    let first = Self.resource(bytes.extracting(resource), part: part)
    var second = SipHash.word(
      bytes.extracting(0..<resource.lowerBound), key: (Self.hashKey.0 ^ first, Self.hashKey.1))
    if resource.upperBound < fullKey.count {
      second = SipHash.word(
        bytes.extracting(resource.upperBound..<fullKey.count), key: (Self.hashKey.0 ^ first, second))
    }
    digest = KeyDigest((first, second))
  }

  /// The first word of the digest of all that is stored of a resource.
  static func resource(_ name: RawSpan, part: UInt64) -> UInt64 {
    SipHash.word(name, key: (hashKey.0 ^ part, hashKey.1))
  }

  /// For `resource`: by the name of a part of the store.
  static func part(_ name: String) -> UInt64 { SipHash.word(Array(name.utf8).rawBytes, key: hashKey) }

  static func == (left: StoreKey, right: StoreKey) -> Bool {
    left.digest == right.digest && left.fullKey == right.fullKey
  }

  func hash(into hasher: inout Hasher) { hasher.combine(digest) }
}

/// 16 bytes, evenly spread, that stand for a longer key.
struct KeyDigest: Sendable, Hashable {
  let first: UInt64
  let second: UInt64

  init(_ words: (UInt64, UInt64)) { (first, second) = words }

  /// Behind it begins all that is stored of a resource.
  static func first(of resource: UInt64) -> KeyDigest { KeyDigest((resource, 0)) }

  /// Reads a key of the database.
  init?(_ bytes: RawSpan) {
    guard bytes.byteCount == 16 else { return nil }
    first = bytes.integer(at: 0)
    second = bytes.integer(at: 8)
  }

  var recordKey: RecordKey { RecordKey(digest: first.littleEndian, second.littleEndian) }
  var checksumSeed: UInt64 { first ^ second }

  /// Takes the bytes as they are: they are evenly spread already. All variants of a resource have the first word in common.
  func hash(into hasher: inout Hasher) { hasher.combine(second) }
}

// The value of a record in the database `namespaces`; its key is the namespace's number, an integer.
// Integers little-endian:
//
//    0  8  checksum of everything behind it
//    8  8  bytes that its entries take (`EntryFacts.weight`)
//   16  8  entries
//   24  8  bytes that they may take, and 1; 0: as many as there is room for
//   32     name, UTF-8

/// A part of the store with a name, a share of its own and a list of its own of what was used when.
struct NamespaceRecord: Sendable, Equatable {
  var number: UInt16
  var name: String
  var bytes = 0
  var entries = 0
  /// Bytes that its entries may take; nil: as many as there is room for. Every writer keeps it.
  var quota: Int?
}

extension NamespaceRecord {
  /// Nil when a byte is not what was written.
  init?(number: UInt64, decoding value: RawSpan) {
    guard value.byteCount >= 32, Checksum.leads(value, seed: number), let number = UInt16(exactly: number)
    else { return nil }
    self.number = number
    bytes = Int(value.integer(at: 8, as: Int64.self))
    entries = Int(value.integer(at: 16, as: Int64.self))
    let limit: Int64 = value.integer(at: 24)
    quota = limit > 0 ? Int(limit - 1) : nil
    name = String(decoding: [UInt8](value.extracting(32..<value.byteCount)), as: UTF8.self)
  }

  func encode() -> [UInt8] {
    var out = [UInt8](repeating: 0, count: 8)
    out.append(integer: Int64(bytes))
    out.append(integer: Int64(entries))
    out.append(integer: quota.map { Int64(min($0, .max - 1)) + 1 } ?? 0)
    out.append(contentsOf: name.utf8)
    out.seal(seed: UInt64(number))
    return out
  }
}

/// The databases of a cache store:
///
///   entries     16 bytes of digest -> `EntryRecord`
///   bodies      body id -> the body's bytes, each on pages of its own
///   files       body id -> nothing: the body is in a file (`BodyFiles`). 0 -> bytes of all files
///   recency     namespace, recency -> 16 bytes of digest: who was used least recently
///   namespaces  number -> `NamespaceRecord`
///   fences      resource -> microseconds of the machine's own clock: what was asked for before is not stored. Resource 0
///               stands for all
///   removals    number -> `Removal`: entries that no lookup finds any more, and that are still to be taken out
struct CacheDatabases: Sendable {
  /// Counts up with every change of a record's layout or of the digest.
  static let layout: UInt32 = 4

  let entries: Database
  let bodies: Database
  let files: Database
  let recency: Database
  let namespaces: Database
  let fences: Database
  let removals: Database

  init(_ transaction: inout WriteTransaction) throws(StoreError) {
    entries = try transaction.database("entries")
    bodies = try transaction.database("bodies", keys: .integers)
    files = try transaction.database("files", keys: .integers)
    recency = try transaction.database("recency")
    namespaces = try transaction.database("namespaces", keys: .integers)
    fences = try transaction.database("fences", keys: .integers)
    removals = try transaction.database("removals", keys: .integers)
  }

  /// The databases that hold what was stored.
  var all: [Database] { [entries, bodies, files, recency, namespaces] }

  /// Bytes of all databases.
  func pageBytes(_ transaction: borrowing WriteTransaction) throws(StoreError) -> Int {
    var pages = 0
    for database in all { pages += try transaction.size(of: database).pages }
    return pages * transaction.environment.pageBytes
  }

  /// Bytes of all long bodies.
  func fileBytes(_ transaction: borrowing WriteTransaction) throws(StoreError) -> Int {
    guard let value = try transaction.value(at: RecordKey(integer: 0), in: files), value.byteCount == 8 else {
      return 0
    }
    return Int(clamping: value.integer(at: 0, as: UInt64.self))
  }
}
