internal import Foundation

/// The shape of a binary property list: which object holds which.
///
/// `bplist??`, objects, a table of their offsets, and 32 bytes at the end: 6 unused, then the size of an offset
/// (1), the size of a reference (1), the number of objects (8), the top object (8) and the table's place (8), all
/// big-endian. An object begins with a byte of kind and count; arrays, sets and dictionaries (kinds A to D) go on
/// with references, which are places in the table.
///
/// Objects may be shared, and Foundation makes each anew where it is held: that is what is measured here.
struct BinaryPropertyList {
  /// As deep as XML may be.
  private static let depthMax = 200
  private static let trailerBytes = 32

  private let bytes: [UInt8]
  private let offsetBytes: Int
  private let referenceBytes: Int
  private let objects: Int
  private let top: Int
  private let table: Int

  /// Nil when the trailer points outside, or numbers more objects than there are bytes for, or than references
  /// and offsets can tell apart: each of them takes memory here.
  init?(_ bytes: [UInt8]) {
    let trailer = bytes.count - Self.trailerBytes
    guard trailer > 8 else { return nil }
    self.bytes = bytes
    offsetBytes = Int(bytes[trailer + 6])
    referenceBytes = Int(bytes[trailer + 7])
    guard (1...8).contains(offsetBytes), (1...8).contains(referenceBytes),
      let objects = Self.number(bytes, trailer + 8, 8), let top = Self.number(bytes, trailer + 16, 8),
      let table = Self.number(bytes, trailer + 24, 8), top < objects, table < trailer,
      objects <= (trailer - table) / offsetBytes, objects <= table - 8,
      (objects - 1) >> (8 * min(offsetBytes, referenceBytes)) == 0
    else { return nil }
    (self.objects, self.top, self.table) = (objects, top, table)
  }

  /// Unfolded, it has no more objects than bytes, which is true of any list whose containers are not shared,
  /// and no path through it is too deep.
  var staysInBounds: Bool {
    var known = Array(repeating: Extent(), count: objects)
    return extent(of: top, depth: 0, &known) != nil
  }

  /// The objects that one unfolds to, itself included, and the levels that they take.
  private struct Extent {
    /// Zero while it is not known.
    var size = 0
    var height: UInt8 = 0
  }

  /// Nil when too many or too deep, which a cycle is. An object that is held in several places is looked into
  /// once, and its height counts in each of them.
  private func extent(of object: Int, depth: Int, _ known: inout [Extent]) -> Extent? {
    guard object < objects, depth < Self.depthMax else { return nil }
    let found = known[object]
    if found.size > 0 { return depth + Int(found.height) <= Self.depthMax ? found : nil }
    guard let held = held(by: object) else { return nil }
    var whole = Extent(size: 1, height: 1)
    for index in 0..<held.count {
      guard let child = Self.number(bytes, held.start + index * referenceBytes, referenceBytes),
        let inner = extent(of: child, depth: depth + 1, &known)
      else { return nil }
      whole.size += inner.size
      whole.height = max(whole.height, inner.height + 1)
      if whole.size > bytes.count { return nil }
    }
    known[object] = whole
    return whole
  }

  /// The place where an object's references begin, and their number.
  private func held(by object: Int) -> (start: Int, count: Int)? {
    guard let start = Self.number(bytes, table + object * offsetBytes, offsetBytes), start < table else {
      return nil
    }
    let kind = bytes[start] >> 4
    guard (0xA...0xD).contains(kind) else { return (start, 0) }
    guard let (first, count) = counted(start) else { return nil }
    let references = kind == 0xD ? 2 : 1
    guard count <= (table - first) / (references * referenceBytes) else { return nil }
    return (first, count * references)
  }

  /// The count of a container and where its references begin: in the low half of its first byte, or, when that is
  /// all ones, in a number that follows.
  private func counted(_ start: Int) -> (first: Int, count: Int)? {
    let short = Int(bytes[start] & 0xF)
    guard short == 0xF else { return (start + 1, short) }
    guard start + 1 < table, bytes[start + 1] >> 4 == 1 else { return nil }
    let width = 1 << Int(bytes[start + 1] & 0xF)
    guard width <= 8, let count = Self.number(bytes, start + 2, width) else { return nil }
    let first = start + 2 + width
    return first <= table ? (first, count) : nil
  }

  private static func number(_ bytes: [UInt8], _ start: Int, _ width: Int) -> Int? {
    guard start >= 0, start <= bytes.count - width else { return nil }
    return Int(exactly: bytes[start..<start + width].reduce(0 as UInt64) { $0 << 8 | UInt64($1) })
  }
}

/// Bytes that are let through to Foundation's readers of property lists.
enum PropertyListCheck {
  /// The list, if it is XML or binary and does no harm. Without this, any word is a list of the old text form;
  /// 200 bytes of binary list, arrays of ten times the same array, keep the reader busy for years; and deep XML
  /// overflows the decoder's stack.
  static func readable(_ data: Data, contentType: String?) -> Data? {
    if data.starts(with: Array("bplist".utf8)) {
      return BinaryPropertyList([UInt8](data))?.staysInBounds ?? false ? data : nil
    }
    return XMLCheck.sound(data, contentType: contentType)
  }
}
