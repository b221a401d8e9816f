/// Where the parts of one body are stored: in pieces, each an entry of its own under a number of its own. So
/// one more part costs what it is long, and not what all of them are.
///
/// Bytes, for each piece, integers little-endian: where it begins in the whole body (8), its length (8), its
/// number (8), and how many bytes of its entry come before it (8).
struct PartTable: Sendable, Hashable {
  struct Piece: Sendable, Hashable {
    /// In the whole body.
    let range: Range<Int64>
    let number: UInt64
    /// Bytes of its entry in whose place something newer has come.
    let skipped: Int64

    /// Where it stands in its entry.
    var place: Range<Int> { Int(skipped)..<Int(skipped) + range.count }

    fileprivate func part(_ wanted: Range<Int64>) -> Piece? {
      let range = range.clamped(to: wanted)
      let skipped = skipped + range.lowerBound - self.range.lowerBound
      return range.isEmpty ? nil : Piece(range: range, number: number, skipped: skipped)
    }
  }

  /// In order; none overlaps another.
  private(set) var pieces: [Piece] = []

  /// With more, neighbours are put together.
  static let piecesMax = 64
  /// Longer ones are not written again as long as there are enough that are shorter.
  private static let shortMax = 1 << 20

  var numbers: Set<UInt64> { Set(pieces.map(\.number)) }

  /// What is there of the whole body.
  var ranges: [Range<Int64>] { Self.joined(pieces).map(\.range) }

  /// Where the new piece and others have a byte, the new one counts.
  mutating func put(_ range: Range<Int64>, at number: UInt64) {
    var all = pieces.flatMap { piece in
      [piece.part(Int64.min..<range.lowerBound), piece.part(range.upperBound..<Int64.max)].compactMap(\.self)
    }
    all.append(Piece(range: range, number: number, skipped: 0))
    pieces = all.sorted { $0.range.lowerBound < $1.range.lowerBound }
  }

  /// What a part of the whole body consists of; nil when it is not all there.
  func pieces(of wanted: Range<Int64>) -> [Piece]? {
    let found = pieces.compactMap { $0.part(wanted) }
    return found.reduce(0) { $0 + $1.range.count } == wanted.count ? found : nil
  }

  /// The neighbours to put together because there are too many pieces: short ones, if there are some.
  var rangesToJoin: [Range<Int64>] {
    guard pieces.count > Self.piecesMax else { return [] }
    let short = Self.joined(pieces.filter { $0.range.count < Self.shortMax }).filter { $0.count > 1 }
    return (short.isEmpty ? Self.joined(pieces).filter { $0.count > 1 } : short).map(\.range)
  }

  private static func joined(_ pieces: [Piece]) -> [(range: Range<Int64>, count: Int)] {
    var joined: [(range: Range<Int64>, count: Int)] = []
    for piece in pieces {
      if let last = joined.last, last.range.upperBound == piece.range.lowerBound {
        joined[joined.count - 1] = (last.range.lowerBound..<piece.range.upperBound, last.count + 1)
      } else {
        joined.append((piece.range, 1))
      }
    }
    return joined
  }
}

extension PartTable {
  private static let pieceBytes = 32

  func encode() -> [UInt8] {
    var bytes: [UInt8] = []
    for piece in pieces {
      bytes.append(integer: piece.range.lowerBound)
      bytes.append(integer: Int64(piece.range.count))
      bytes.append(integer: piece.number)
      bytes.append(integer: piece.skipped)
    }
    return bytes
  }

  /// Nil for bytes that `encode` did not write.
  init?(decoding bytes: RawSpan) {
    guard bytes.byteCount > 0, bytes.byteCount % Self.pieceBytes == 0 else { return nil }
    var end: Int64 = 0
    for offset in stride(from: 0, to: bytes.byteCount, by: Self.pieceBytes) {
      let (start, count): (Int64, Int64) = (bytes.integer(at: offset), bytes.integer(at: offset + 8))
      let skipped: Int64 = bytes.integer(at: offset + 24)
      guard start >= end, count > 0, count < 1 << 47, start < 1 << 60, 0..<(1 << 47) ~= skipped else {
        return nil
      }
      end = start + count
      pieces.append(Piece(range: start..<end, number: bytes.integer(at: offset + 16), skipped: skipped))
    }
  }
}
