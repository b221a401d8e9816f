/// Bytes to send: part of a block, or the block over and over. All content takes this one form, so that
/// the sender knows one thing and a body of any length holds one block.
struct ByteRun: Sendable {
  let block: [UInt8]
  /// Where in the block the run begins.
  let start: Int
  /// `Int.max` is endless.
  let count: Int

  init(block: [UInt8], start: Int, count: Int) {
    self.block = block
    self.start = start
    self.count = block.isEmpty ? 0 : count
  }

  init(_ bytes: [UInt8]) { self.init(block: bytes, start: 0, count: bytes.count) }

  init(pattern count: Int, from offset: Int) {
    self.init(block: BodyPattern.block, start: offset % BodyPattern.period, count: count)
  }

  /// `times` nil is endless. A short unit becomes a long block: one system call then sends many of them.
  init(repeating unit: [UInt8], times: Int?) {
    let copies = min(max(16_384 / max(unit.count, 1), 1), times ?? .max)
    let block = copies == 1 ? unit : Array(repeatElement(unit, count: copies).joined())
    self.init(block: block, start: 0, count: times.map { unit.count * $0 } ?? .max)
  }

  /// The part of the block that comes at this offset of the run: as much as lies there in one piece.
  func range(at offset: Int, atMost limit: Int) -> Range<Int> {
    let from = (start + offset) % block.count
    let left = count == .max ? limit : count - offset
    return from..<min(block.count, from + min(left, limit))
  }

  /// The run in two pieces.
  func split(at offset: Int) -> (ByteRun, ByteRun) {
    let rest = count == .max ? .max : count - offset
    return (
      ByteRun(block: block, start: start, count: offset),
      ByteRun(block: block, start: block.isEmpty ? 0 : (start + offset) % block.count, count: rest)
    )
  }
}
