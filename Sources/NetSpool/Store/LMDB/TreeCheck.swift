internal import Glibc

// LMDB believes what it reads: one damaged page and it asserts, writes past a buffer or reads past the file
// (of 400 environments with one random page overwritten, 155 ended the process). So we read first.
//
// A meta page (mdb.c, `struct MDB_page` and `struct MDB_meta`, 64-bit), integers little-endian:
//
//    0  8  page number            40 48  tree of free pages (`TreeRoot`); its first 4 bytes: page size
//    8  2  0                      88 48  main tree
//   10  2  flags: 0x08           136  8  last page in use
//   16  4  0xBEEFC0DE            144  8  number of the commit
//   20  4  version: 1
//
// Page 0 holds the even commits, page 1 the odd ones; the newer one counts.

/// Something in a file is not what LMDB would have written.
struct TreeDamage: Error, Equatable {
  let why: String
  init(_ why: String) { self.why = why }
}

/// Checks the pages of a closed environment.
extension PageFile {
  /// `version` or `pageSize` when both meta pages agree on one that is not ours: another program's file, not
  /// a damaged one.
  func otherVersion() -> String? {
    guard let first = meta(at: 0), first.hasMagic, first.pageBytes >= 512 else { return nil }
    guard let second = meta(at: Int64(first.pageBytes)), second.hasMagic else { return nil }
    guard first.version == second.version, first.pageBytes == second.pageBytes else { return nil }
    if first.version != MetaPage.version { return "version" }
    return first.pageBytes == getpagesize() ? nil : "pageSize"
  }

  /// Says what is wrong with the two meta pages, and else anywhere in the trees; nil when nothing is. Bodies are not read.
  func damage(ofMetaPagesOnly: Bool = false) -> String? {
    do throws(TreeDamage) {
      let meta = try newestMeta()
      if !ofMetaPagesOnly { try TreeWalk(self, meta).checkAll() }
      return nil
    } catch {
      return error.why
    }
  }
}

/// Either of the two pages that say where the trees begin.
struct MetaPage {
  static let bytes = 152
  static let version: UInt32 = 1
  /// The only size that is taken.
  static var pageBytes: Int { Int(getpagesize()) }
  private static let magic: UInt32 = 0xBEEF_C0DE
  private static let flag: UInt16 = 0x08

  let number: UInt64
  let flags: UInt16
  let hasMagic: Bool
  let version: UInt32
  let pageBytes: Int
  let free: TreeRoot
  let main: TreeRoot
  let lastPage: UInt64
  let commit: UInt64

  init(_ bytes: RawSpan) {
    number = bytes.integer(at: 0)
    flags = bytes.integer(at: 10)
    hasMagic = bytes.integer(at: 16, as: UInt32.self) == Self.magic
    version = bytes.integer(at: 20)
    pageBytes = Int(bytes.integer(at: 40, as: UInt32.self))
    free = TreeRoot(bytes, at: 40)
    main = TreeRoot(bytes, at: 88)
    lastPage = bytes.integer(at: 136)
    commit = bytes.integer(at: 144)
  }

  /// True for what LMDB writes to page 0 or 1.
  func isWhole(at page: UInt64) -> Bool {
    number == page && flags == Self.flag && hasMagic && version == Self.version && pageBytes == getpagesize()
      && free.flags == TreeRoot.integerKeys && main.flags == 0 && (commit == 0 || commit % 2 == page)
  }
}

/// The size of a tree, as its root states it or as a walk through it counts.
struct TreeSize: Equatable {
  var branchPages: UInt64 = 0
  var leafPages: UInt64 = 0
  var overflowPages: UInt64 = 0
  var records: UInt64 = 0
}

/// The root of a tree and its size (mdb.c, `struct MDB_db`, 48 bytes).
struct TreeRoot: Equatable {
  static let bytes = 48
  static let integerKeys: UInt16 = 0x08
  static let none = UInt64.max

  let flags: UInt16
  let depth: Int
  let size: TreeSize
  let root: UInt64

  init(_ bytes: RawSpan, at offset: Int) {
    flags = bytes.integer(at: offset + 4)
    depth = Int(bytes.integer(at: offset + 6, as: UInt16.self))
    size = TreeSize(
      branchPages: bytes.integer(at: offset + 8), leafPages: bytes.integer(at: offset + 16),
      overflowPages: bytes.integer(at: offset + 24), records: bytes.integer(at: offset + 32))
    root = bytes.integer(at: offset + 40)
  }

  var hasIntegerKeys: Bool { flags & Self.integerKeys != 0 }
}

/// Reads a file that may end anywhere.
final class PageFile {
  private let data: FileDescriptor

  init(_ data: consuming FileDescriptor) { self.data = data }

  /// Fills the buffer from `offset` on; false when the file ends before.
  func read(into buffer: inout [UInt8], at offset: Int64) -> Bool {
    unsafe buffer.withUnsafeMutableBytes { buffer in
      var done = 0
      while done < buffer.count {
        let rest = unsafe UnsafeMutableRawBufferPointer(rebasing: buffer[done...])
        guard let count = try? unsafe data.read(into: rest, at: offset + Int64(done)), count > 0 else {
          return false
        }
        done += count
      }
      return true
    }
  }

  func meta(at offset: Int64) -> MetaPage? {
    var bytes = [UInt8](repeating: 0, count: MetaPage.bytes)
    return read(into: &bytes, at: offset) ? MetaPage(bytes.rawBytes) : nil
  }

  /// The meta page LMDB would take; both must be whole, as LMDB demands.
  func newestMeta() throws(TreeDamage) -> MetaPage {
    guard let first = meta(at: 0), let second = meta(at: Int64(getpagesize())), first.isWhole(at: 0),
      second.isWhole(at: 1)
    else { throw TreeDamage("meta page") }
    let newest = first.commit >= second.commit ? first : second
    let older = first.commit >= second.commit ? second : first
    guard newest.commit - older.commit <= 1, newest.lastPage >= 1 else { throw TreeDamage("meta page") }
    guard newest.lastPage < 1 << 47 else { throw TreeDamage("meta page") }
    return newest
  }

  /// The value of a leaf's node, which stands in its page or on pages of its own; nil when the file ends before.
  func value(of node: TreeNode, in page: [UInt8]) -> [UInt8]? {
    guard node.isLarge else { return Array(page[node.valueOffset..<node.valueOffset + node.valueBytes]) }
    // No file has more: memory for what only damage says is not asked for.
    guard node.largePage < 1 << 40, node.valueBytes < 1 << 31 else { return nil }
    var value = [UInt8](repeating: 0, count: node.valueBytes)
    let offset = Int64(node.largePage) * Int64(MetaPage.pageBytes) + Int64(LargeValue.headerBytes)
    return read(into: &value, at: offset) ? value : nil
  }

  /// The number of its whole pages. What LMDB counts may be more, by free pages that it never wrote.
  func pageCount() throws(TreeDamage) -> UInt64 {
    guard let bytes = (try? FileStatus(of: data))?.bytes else { throw TreeDamage("file too short") }
    return UInt64(bytes) / UInt64(MetaPage.pageBytes)
  }
}
