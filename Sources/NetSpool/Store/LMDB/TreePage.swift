// A page of a tree (mdb.c, `struct MDB_page` and `struct MDB_node`), integers little-endian:
//
//    0  8  page number                     a node:
//    8  2  0                                0  2  bytes of the value, low half   } of a branch: the three
//   10  2  flags: 1 branch, 2 leaf          2  2  the same, high half            } are the child's page
//   12  2  end of the offsets               4  2  flags: 1 large, 2 tree         } number
//   14  2  start of the nodes               6  2  bytes of the key
//   16  2  offset of each node, in order    8     key, value (large: page number of the value, 8 bytes)
//
// Nodes begin at even offsets and fill the page from `start` to its end without a gap.

/// A page whose every offset and length has been checked.
struct TreePage {
  enum Kind: UInt16 { case branch = 1, leaf = 2 }

  static let headerBytes = 16
  let offsets: [Int]

  /// `nodes` is only memory to work in.
  init(
    _ page: [UInt8], number: UInt64, kind: Kind, hasIntegerKeys: Bool, _ nodes: inout NodeTable
  ) throws(TreeDamage) {
    let bytes = page.rawBytes
    let end = Int(bytes.integer(at: 12, as: UInt16.self))
    let start = Int(bytes.integer(at: 14, as: UInt16.self))
    guard bytes.integer(at: 0, as: UInt64.self) == number,
      bytes.integer(at: 10, as: UInt16.self) == kind.rawValue
    else { throw TreeDamage("page header") }
    guard end >= Self.headerBytes, end % 2 == 0, start >= end, start <= page.count else {
      throw TreeDamage("page bounds")
    }
    let count = (end - Self.headerBytes) / 2
    guard count >= (kind == .branch ? 2 : 1) else { throw TreeDamage("page without nodes") }
    var offsets: [Int] = []
    offsets.reserveCapacity(count)
    nodes.reset()
    for index in 0..<count {
      let node = try TreeNode(
        bytes, at: Int(bytes.integer(at: Self.headerBytes + 2 * index, as: UInt16.self)), from: start,
        kind: kind)
      try node.checkKey(isFirstOfBranch: kind == .branch && index == 0, isInteger: hasIntegerKeys)
      if index > (kind == .branch ? 1 : 0) {
        let previous = TreeNode(unchecked: bytes, at: offsets[index - 1], kind: kind)
        guard node.isKey(in: bytes, after: previous, isInteger: hasIntegerKeys) else {
          throw TreeDamage("key order")
        }
      }
      try nodes.add(offset: node.offset, bytes: node.bytes)
      offsets.append(node.offset)
    }
    try nodes.checkNoGaps(from: start)
    self.offsets = offsets
  }

  func children(in page: [UInt8]) -> [UInt64] {
    offsets.map { page.rawBytes.integer(at: $0, as: UInt64.self) & 0xFFFF_FFFF_FFFF }
  }

  func leafNodes(in page: [UInt8]) -> [TreeNode] {
    offsets.map { TreeNode(unchecked: page.rawBytes, at: $0, kind: .leaf) }
  }
}

/// A key with its value, or with the page its keys are on.
struct TreeNode {
  static let headerBytes = 8
  static let keyBytesMax = 511

  let offset: Int
  let valueBytes: Int
  let flags: UInt16
  let keyBytes: Int
  /// All of it, rounded up to an even number.
  let bytes: Int
  /// Of a large value.
  private(set) var largePage: UInt64 = 0

  var isLarge: Bool { flags & 1 != 0 }
  var isTree: Bool { flags & 2 != 0 }
  var valueOffset: Int { offset + Self.headerBytes + keyBytes }

  /// Reads a node that may lie.
  init(_ page: RawSpan, at offset: Int, from start: Int, kind: TreePage.Kind) throws(TreeDamage) {
    guard offset >= start, offset % 2 == 0, offset <= page.byteCount - Self.headerBytes else {
      throw TreeDamage("node offset")
    }
    let keyBytes = Int(page.integer(at: offset + 6, as: UInt16.self))
    let flags: UInt16 = page.integer(at: offset + 4)
    let stated = Int(page.integer(at: offset, as: UInt32.self))
    let valueBytes = kind == .branch ? 0 : flags & 1 != 0 ? 8 : stated
    guard offset + Self.headerBytes + keyBytes + valueBytes <= page.byteCount else {
      throw TreeDamage("node length")
    }
    guard kind == .branch || flags & ~3 == 0 else { throw TreeDamage("node flags") }
    self.init(unchecked: page, at: offset, kind: kind)
  }

  /// Reads a node that has been checked.
  init(unchecked page: RawSpan, at offset: Int, kind: TreePage.Kind) {
    self.offset = offset
    keyBytes = Int(page.integer(at: offset + 6, as: UInt16.self))
    let isLeaf = kind == .leaf
    flags = isLeaf ? page.integer(at: offset + 4) : 0
    valueBytes = isLeaf ? Int(page.integer(at: offset, as: UInt32.self)) : 0
    let isLarge = flags & 1 != 0
    let stored = isLarge ? 8 : valueBytes
    bytes = (Self.headerBytes + keyBytes + stored + 1) & ~1
    if isLarge { largePage = page.integer(at: valueOffset) }
  }

  func checkKey(isFirstOfBranch: Bool, isInteger: Bool) throws(TreeDamage) {
    // The first key of a branch is never looked at.
    if isFirstOfBranch { return }
    guard keyBytes > 0, keyBytes <= Self.keyBytesMax, !isInteger || keyBytes == 8 else {
      throw TreeDamage("key length")
    }
  }

  /// True when its key sorts behind the other's.
  func isKey(in page: RawSpan, after other: TreeNode, isInteger: Bool) -> Bool {
    let (own, others) = (offset + Self.headerBytes, other.offset + Self.headerBytes)
    if isInteger { return page.integer(at: own, as: UInt64.self) > page.integer(at: others, as: UInt64.self) }
    for index in 0..<min(keyBytes, other.keyBytes) {
      let (left, right) = (page.byte(at: own + index), page.byte(at: others + index))
      if left != right { return left > right }
    }
    return keyBytes > other.keyBytes
  }
}

/// Checks which nodes begin where in a page: they must fill it without gap or overlap.
struct NodeTable {
  private var bytesAt: [UInt16]
  private var count = 0

  init(pageBytes: Int) { bytesAt = Array(repeating: 0, count: pageBytes / 2) }

  mutating func reset() {
    for index in bytesAt.indices { bytesAt[index] = 0 }
    count = 0
  }

  mutating func add(offset: Int, bytes: Int) throws(TreeDamage) {
    guard bytesAt[offset / 2] == 0 else { throw TreeDamage("node overlap") }
    bytesAt[offset / 2] = UInt16(truncatingIfNeeded: bytes)
    count += 1
  }

  func checkNoGaps(from start: Int) throws(TreeDamage) {
    var offset = start
    var found = 0
    while offset < bytesAt.count * 2 {
      let bytes = Int(bytesAt[offset / 2])
      guard bytes > 0, offset % 2 == 0 else { throw TreeDamage("node gap") }
      offset += bytes
      found += 1
    }
    guard offset == bytesAt.count * 2, found == count else { throw TreeDamage("node overlap") }
  }
}
