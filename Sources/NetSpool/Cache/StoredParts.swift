/// Which parts of a body are stored, one behind the other (RFC 9111 section 3.3).
struct StoredParts: Sendable, Hashable {
  /// The length of the whole body.
  let total: Int64
  /// Positions in the whole body: in order, none empty, none that touches the next.
  private(set) var ranges: [Range<Int64>]

  /// More of them are not kept.
  static let rangesMax = 64

  /// Nil unless they are as they must be.
  init?(total: Int64, ranges: [Range<Int64>]) {
    guard !ranges.isEmpty, ranges.count <= Self.rangesMax, ranges[0].lowerBound >= 0,
      ranges.allSatisfy({ !$0.isEmpty }), ranges[ranges.count - 1].upperBound <= total,
      zip(ranges, ranges.dropFirst()).allSatisfy({ $0.upperBound < $1.lowerBound })
    else { return nil }
    self.total = total
    self.ranges = ranges
  }

  var bytes: Int64 { ranges.reduce(0) { $0 + Int64($1.count) } }

  var isWhole: Bool { ranges.count == 1 && Int64(ranges[0].count) == total }

  /// Where in the stored bytes a part of the whole body lies; nil when it is not all there.
  func place(of wanted: Range<Int64>) -> Range<Int>? {
    var start: Int64 = 0
    for range in ranges {
      if range.lowerBound <= wanted.lowerBound, wanted.upperBound <= range.upperBound {
        let first = Int(start + wanted.lowerBound - range.lowerBound)
        return first..<(first + wanted.count)
      }
      start += Int64(range.count)
    }
    return nil
  }

  /// Puts one more part of the same body to those that are there; where both have a byte, the new one counts. Nil when
  /// there would be too many.
  func adding(
    _ range: Range<Int64>, _ bytes: [UInt8], to stored: [UInt8]
  ) -> (parts: StoredParts, bytes: [UInt8])? {
    var (merged, body, start) = (range, bytes, 0)
    var before: [(Range<Int64>, ArraySlice<UInt8>)] = []
    var after: [(Range<Int64>, ArraySlice<UInt8>)] = []
    for held in ranges {
      let piece = stored[start..<(start + held.count)]
      start += held.count
      if held.upperBound < range.lowerBound {
        before.append((held, piece))
      } else if held.lowerBound > range.upperBound {
        after.append((held, piece))
      } else {
        if held.lowerBound < merged.lowerBound {
          body = piece.prefix(Int(merged.lowerBound - held.lowerBound)) + body
          merged = held.lowerBound..<merged.upperBound
        }
        if held.upperBound > merged.upperBound {
          body += piece.suffix(Int(held.upperBound - merged.upperBound))
          merged = merged.lowerBound..<held.upperBound
        }
      }
    }
    let all = before + [(merged, body[...])] + after
    guard let parts = StoredParts(total: total, ranges: all.map(\.0)) else { return nil }
    return (parts, all.flatMap(\.1))
  }
}
