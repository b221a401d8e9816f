// The value of a record in the database `entries`; its key is the 16 bytes of `KeyDigest`.
// Integers little-endian:
//
//    0  8  checksum of everything behind it, begun with the key (`Checksum`)
//    8  8  recency: microseconds since 1970 at the last recorded use, made unique; its key in `recency`
//   16  8  body id: unique in time; its key in `bodies` or `files`
//   24  8  checksum of the large value, or of the file; 0 without one
//   32  4  first page of the large value in the file, 0 without one
//   36  4  bytes of the body
//   40  4  bytes of the metadata
//   44  2  bytes of the full key
//   46  2  namespace
//   48  4  where the body begins in the large value, 0 without one
//   52  1  version: 1
//   53  1  flags: 1: the full key and the metadata stand in this record; 2: the body is a file (`BodyFiles`)
//   54  2  0
//   56     full key and metadata if so, then the body when there is neither a large value nor a file
//
// A body of at most `bodyInlineMax` bytes stands in the record, one of at least `BodyFiles.bytesMin` in a file. One in
// between is a large value in `bodies`: full key, metadata, body, and zeros up to half a page, so that it has pages of its
// own (see `LargeValue`).
// So the tree of entries stays small, and a lookup that hits reads a page it would read anyway. New metadata
// goes into the record; the large value stays as it is.

/// An entry, borrowed and checked.
struct EntryRecord: ~Escapable {
  static let headerBytes = 56
  static let version: UInt8 = 1
  static let bodyInlineMax = 1_024

  let bytes: RawSpan

  /// Nil when a byte is not what was written.
  @_lifetime(copy bytes)
  init?(_ bytes: RawSpan, key: KeyDigest) {
    guard bytes.byteCount >= Self.headerBytes, Checksum.leads(bytes, seed: key.checksumSeed) else {
      return nil
    }
    self.bytes = bytes
    guard bytes.byte(at: 52) == Self.version, hasFittingLengths else { return nil }
  }

  private var hasFittingLengths: Bool {
    let headBytes = keyBytes + metadataBytes
    let isPlaced = isHeadInline || isLarge && !isFile && Int(bodyOffset) == headBytes
    let inline = (isHeadInline ? headBytes : 0) + inlineBytes
    return isPlaced && bytes.byteCount == Self.headerBytes + inline
  }

  var recency: UInt64 { bytes.integer(at: 8) }
  var bodyID: UInt64 { bytes.integer(at: 16) }
  private var checksum: UInt64 { bytes.integer(at: 24) }
  var largePage: UInt32 { bytes.integer(at: 32) }
  var bodyBytes: Int { Int(bytes.integer(at: 36, as: UInt32.self)) }
  var metadataBytes: Int { Int(bytes.integer(at: 40, as: UInt32.self)) }
  var keyBytes: Int { Int(bytes.integer(at: 44, as: UInt16.self)) }
  var namespace: UInt16 { bytes.integer(at: 46) }
  var bodyOffset: UInt32 { bytes.integer(at: 48) }
  var isHeadInline: Bool { bytes.byte(at: 53) & 1 != 0 }
  private var isFile: Bool { bytes.byte(at: 53) & 2 != 0 }
  private var isLarge: Bool { largePage != 0 }
  private var inlineBytes: Int { isLarge || isFile ? 0 : bodyBytes }

  /// The body, when it stands in the record; else nothing.
  var inlineBody: RawSpan {
    @_lifetime(copy self) get { bytes.extracting(last: inlineBytes) }
  }

  /// Everything but the bytes of key, metadata and body.
  var facts: EntryFacts {
    EntryFacts(
      recency: recency, bodyID: bodyID, bodyBytes: bodyBytes,
      large: isLarge
        ? EntryFacts.Large(page: largePage, checksum: checksum, bodyOffset: Int(bodyOffset)) : nil,
      fileChecksum: isFile ? checksum : nil, namespace: namespace, recordBytes: bytes.byteCount)
  }
}

/// What an entry says besides its key, metadata and body.
struct EntryFacts: Equatable, Sendable {
  struct Large: Equatable, Sendable {
    var page: UInt32
    var checksum: UInt64
    var bodyOffset: Int
  }

  var recency: UInt64
  var bodyID: UInt64
  var bodyBytes: Int
  var large: Large?
  /// Nil if the body is in no file.
  var fileChecksum: UInt64?
  var namespace: UInt16
  var recordBytes = 0

  /// Bytes of the large value without the zeros at its end.
  var largeBytes: Int { large.map { $0.bodyOffset + bodyBytes } ?? 0 }

  var isFile: Bool { fileChecksum != nil }
  /// The body stands in the record.
  var isInline: Bool { large == nil && !isFile }

  /// What its file takes of the disk.
  var fileBytes: Int { isFile ? BodyFiles.weight(bodyBytes) : 0 }

  /// What it takes of its namespace's quota: its file or its pages, and its record.
  func weight(pageBytes: Int) -> Int {
    guard large != nil else { return recordBytes + fileBytes }
    return recordBytes + LargeValue.pages(forBytes: largeBytes, pageBytes: pageBytes) * pageBytes
  }
}

extension [UInt8] {
  /// Becomes the record of an entry, keeping its memory. `head`: with its full key and metadata.
  mutating func encode(
    _ facts: EntryFacts, key: StoreKey, metadata: [UInt8], isHeadInline: Bool, inlineBody: [UInt8]
  ) {
    removeAll(keepingCapacity: true)
    append(integer: UInt64(0))
    append(integer: facts.recency)
    append(integer: facts.bodyID)
    append(integer: facts.large?.checksum ?? facts.fileChecksum ?? 0)
    append(integer: facts.large?.page ?? 0)
    append(integer: UInt32(facts.bodyBytes))
    append(integer: UInt32(metadata.count))
    append(integer: UInt16(key.fullKey.count))
    append(integer: facts.namespace)
    append(integer: UInt32(facts.large?.bodyOffset ?? 0))
    append(integer: UInt32(EntryRecord.version) | (isHeadInline ? 1 << 8 : 0) | (facts.isFile ? 2 << 8 : 0))
    if isHeadInline {
      append(contentsOf: key.fullKey)
      append(contentsOf: metadata)
    }
    append(contentsOf: inlineBody)
    seal(seed: key.digest.checksumSeed)
  }

  /// Changes the recency of an encoded entry.
  mutating func reseal(recency: UInt64, _ key: KeyDigest) {
    replace(integerAt: 8, with: recency)
    seal(seed: key.checksumSeed)
  }
}
