// The value of a record in the database `entries`; its key is the 16 bytes of `KeyDigest`.
// Integers little-endian:
//
//    0  8  checksum of everything behind it, begun with the key (`Checksum`)
//    8  8  recency: microseconds since 1970 at the last recorded use, made unique; its key in `recency`
//   16  8  body id: unique in time; its key in `bodies`
//   24  8  checksum of the body
//   32  4  first page of the body in the file, 0 when the body stands in this record
//   36  4  bytes of the body
//   40  4  bytes of the metadata
//   44  2  bytes of the full key
//   46  2  namespace
//   48  1  version: 1
//   49  7  0
//   56     full key, metadata, then the body when its first page is 0
//
// A body of at most `bodyInlineMax` bytes stands in the record; a longer one in `bodies`, filled up with zeros
// to more than half a page so that it has pages of its own (see `LargeValue`).

/// An entry, borrowed and checked.
struct EntryRecord: ~Escapable {
  static let headerBytes = 56
  static let version: UInt8 = 1
  static let bodyInlineMax = 1_024

  let bytes: RawSpan

  /// Nil when a byte is not what was written.
  @_lifetime(copy bytes)
  init?(_ bytes: RawSpan, key: KeyDigest) {
    guard bytes.byteCount >= Self.headerBytes,
      bytes.integer(at: 0, as: UInt64.self)
        == Checksum.of(bytes.extracting(8..<bytes.byteCount), seed: key.checksumSeed)
    else { return nil }
    self.bytes = bytes
    guard bytes.byte(at: 48) == Self.version, bytes.byteCount == byteCount else { return nil }
  }

  /// How long the lengths in it say it is.
  private var byteCount: Int {
    Self.headerBytes + keyBytes + metadataBytes + (isBodyInline ? bodyBytes : 0)
  }

  var recency: UInt64 { bytes.integer(at: 8) }
  var bodyID: UInt64 { bytes.integer(at: 16) }
  var bodyChecksum: UInt64 { bytes.integer(at: 24) }
  var bodyPage: UInt32 { bytes.integer(at: 32) }
  var bodyBytes: Int { Int(bytes.integer(at: 36, as: UInt32.self)) }
  var metadataBytes: Int { Int(bytes.integer(at: 40, as: UInt32.self)) }
  var keyBytes: Int { Int(bytes.integer(at: 44, as: UInt16.self)) }
  var namespace: UInt16 { bytes.integer(at: 46) }
  var isBodyInline: Bool { bodyPage == 0 }

  var metadataOffset: Int { Self.headerBytes + keyBytes }
  var inlineBodyOffset: Int { metadataOffset + metadataBytes }

  var key: RawSpan {
    @_lifetime(copy self) get { bytes.extracting(Self.headerBytes..<metadataOffset) }
  }

  var metadata: RawSpan {
    @_lifetime(copy self) get { bytes.extracting(metadataOffset..<inlineBodyOffset) }
  }

  /// Everything but the bytes of key, metadata and body.
  var facts: EntryFacts {
    EntryFacts(
      recency: recency, bodyID: bodyID, bodyChecksum: bodyChecksum, bodyPage: bodyPage, bodyBytes: bodyBytes,
      namespace: namespace, recordBytes: bytes.byteCount)
  }
}

/// What an entry says besides its key, metadata and body.
struct EntryFacts: Equatable, Sendable {
  var recency: UInt64
  var bodyID: UInt64
  var bodyChecksum: UInt64
  var bodyPage: UInt32
  var bodyBytes: Int
  var namespace: UInt16
  var recordBytes: Int

  /// What it takes of its namespace's quota: its body's pages and its record.
  func weight(pageBytes: Int) -> Int {
    guard bodyPage != 0 else { return recordBytes }
    return recordBytes + LargeValue.pages(forBytes: max(bodyBytes, pageBytes / 2), pageBytes: pageBytes)
      * pageBytes
  }

  /// Writes an entry into `out`, which keeps its memory between entries.
  func encode(key: StoreKey, metadata: RawSpan, inlineBody: RawSpan, into out: inout [UInt8]) {
    out.removeAll(keepingCapacity: true)
    out.append(integer: UInt64(0))
    out.append(integer: recency)
    out.append(integer: bodyID)
    out.append(integer: bodyChecksum)
    out.append(integer: bodyPage)
    out.append(integer: UInt32(bodyBytes))
    out.append(integer: UInt32(metadata.byteCount))
    out.append(integer: UInt16(key.fullKey.count))
    out.append(integer: namespace)
    out.append(integer: UInt64(EntryRecord.version))
    out.append(contentsOf: key.fullKey)
    out.append(metadata)
    out.append(inlineBody)
    out.seal(key.digest)
  }
}

extension [UInt8] {
  /// Writes the checksum of an entry.
  mutating func seal(_ key: KeyDigest) {
    let checksum = Checksum.of(rawBytes.extracting(8..<count), seed: key.checksumSeed)
    for index in 0..<8 { self[index] = UInt8(truncatingIfNeeded: checksum >> (8 * index)) }
  }

  /// Changes the recency of an encoded entry.
  mutating func reseal(recency: UInt64, _ key: KeyDigest) {
    for index in 0..<8 { self[8 + index] = UInt8(truncatingIfNeeded: recency >> (8 * index)) }
    seal(key)
  }
}
