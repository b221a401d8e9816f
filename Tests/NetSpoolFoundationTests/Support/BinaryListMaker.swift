import Foundation

/// Binary property lists that no encoder would write.
enum BinaryListMaker {
  /// The objects as bytes, the first on top, with references and offsets of two bytes.
  /// - Parameter referenceBytes: what the list says instead.
  static func list(_ objects: [[UInt8]], referenceBytes: UInt8 = 2) -> [UInt8] {
    var bytes = Array("bplist00".utf8)
    var offsets: [Int] = []
    for object in objects {
      offsets.append(bytes.count)
      bytes += object
    }
    let table = bytes.count
    for offset in offsets { bytes += twoBytes(offset) }
    bytes += [0, 0, 0, 0, 0, 0, 2, referenceBytes]
    for number in [objects.count, 0, table] { bytes += [0, 0, 0, 0, 0, 0] + twoBytes(number) }
    return bytes
  }

  static func array(of references: [Int]) -> [UInt8] {
    [0xAF, 0x11] + twoBytes(references.count) + references.flatMap(twoBytes)
  }

  /// Every array but the last holds the next one so many times.
  static func shared(levels: Int, times: Int) -> [UInt8] {
    list((1...levels).map { array(of: $0 < levels ? Array(repeating: $0, count: times) : []) })
  }

  /// A chain of so many arrays, whose first one holds the one in the middle before the second: that is met
  /// near the top first, and then where it is deep.
  static func joined(levels: Int) -> [UInt8] {
    list(
      (1...levels).map { level in
        array(of: (level == 1 ? [levels / 2] : []) + (level < levels ? [level] : []))
      })
  }

  private static func twoBytes(_ number: Int) -> [UInt8] { [UInt8(number >> 8), UInt8(number & 0xFF)] }
}
