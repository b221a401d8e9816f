import Glibc

/// Lines of a file or pipe, 64 KiB at a time, in one buffer that grows with the longest line and never with
/// the input.
///
/// `next()` hands out a range of `buffer`, good until the following call: a line costs no allocation.
final class LineReader {
  enum Pull: Equatable {
    case line(Range<Int>)
    /// A line longer than the limit. It was skipped without being held.
    case tooLong
    /// Nothing to read yet; poll `source` and come back.
    case starved
    /// Another process wrote to the file. Nothing more comes but the end; a line that may be cut was left out.
    case touched(hasGrown: Bool)
    case end
  }

  private(set) var buffer: [UInt8]
  /// The number of the line handed out last, from 1.
  private(set) var lineNumber = 0
  /// Bytes handed out or skipped so far, line feeds included.
  private(set) var bytesConsumed: Int64 = 0
  /// False when the last line handed out was cut off by the end of the input.
  private(set) var lastLineWasTerminated = true

  /// Where the line handed out last lies in its file; nil in a pipe.
  var lastLineExtent: Range<Int64>? {
    guard let watch else { return nil }
    let end = watch.start + bytesConsumed - (lastLineWasTerminated ? 1 : 0)
    return watch.start + lineStart..<end
  }

  func read(_ extent: Range<Int64>, _ body: (ArraySlice<UInt8>) throws(IOFailure) -> Void) throws(IOFailure) {
    var piece = [UInt8](repeating: 0, count: Self.readBytes)
    var offset = extent.lowerBound
    while offset < extent.upperBound {
      let got = try source.read(into: &piece, at: 0, fileOffset: offset)
      guard got > 0 else { return }
      try body(piece[..<Int(min(Int64(got), extent.upperBound - offset))])
      offset += Int64(got)
    }
  }

  /// Gets the pieces of each line that is longer than the limit, before `next()` tells of it.
  var onSkip: (ArraySlice<UInt8>) -> Void = { _ in }

  let source: Descriptor
  private let lineBytesMax: Int
  private let isWatched: Bool
  /// Of the line handed out last, in bytes consumed.
  private var lineStart: Int64 = 0
  private var nextLineStart: Int64 = 0
  private var start = 0
  private var scanned = 0
  private var filled = 0
  private var isSkipping = false
  private var isAtEnd = false
  private var watch: SourceWatch?
  private var finding = SourceWatch.Finding.same

  static let readBytes = 65_536

  /// - Parameter isWatched: whether a slow pipe gives `.starved` instead of waiting for its writer, and a file that is written
  ///   to meanwhile ends with `.touched`.
  init(_ source: consuming Descriptor, lineBytesMax: Int, isWatched: Bool = false) {
    watch = isWatched ? SourceWatch(source) : nil
    self.source = source
    self.lineBytesMax = lineBytesMax
    self.isWatched = isWatched
    buffer = [UInt8](repeating: 0, count: 2 * Self.readBytes)
  }

  var path: String { source.path }

  /// The bytes of a range that `next()` gave.
  subscript(_ range: Range<Int>) -> ArraySlice<UInt8> { buffer[range] }

  func next() throws(IOFailure) -> Pull {
    while true {
      if let newline = nextNewline() { return take(upTo: newline, terminated: true) }
      scanned = filled
      if filled - start > lineBytesMax { skipHeld() }
      if isAtEnd { return takeRest() }
      if isWatched && !source.isReadable { return .starved }
      try fill()
    }
  }

  private func nextNewline() -> Int? {
    let (from, count) = (scanned, filled - scanned)
    return unsafe buffer.withUnsafeBytes { bytes in
      let base = bytes.baseAddress!
      guard let found = unsafe memchr(base + from, 0x0A, count) else { return nil }
      return unsafe UnsafeRawPointer(found) - base
    }
  }

  private func take(upTo end: Int, terminated: Bool) -> Pull {
    let line = start..<end
    let fits = !isSkipping && line.count <= lineBytesMax
    if !fits { onSkip(buffer[line]) }
    bytesConsumed += Int64(line.count + (terminated ? 1 : 0))
    start = min(end + 1, filled)
    scanned = start
    (lineStart, nextLineStart) = (nextLineStart, bytesConsumed)
    lineNumber += 1
    lastLineWasTerminated = terminated
    isSkipping = false
    return fits ? .line(line) : .tooLong
  }

  private func takeRest() -> Pull {
    if finding != .same {
      defer { finding = .same }
      // The beginning of a line whose end is not known is forgotten.
      (start, scanned, isSkipping) = (filled, filled, false)
      return .touched(hasGrown: finding == .grown)
    }
    guard start < filled || isSkipping else { return .end }
    return take(upTo: filled, terminated: false)
  }

  /// Drops the part of an overlong line read so far; the rest of it goes the same way.
  private func skipHeld() {
    onSkip(buffer[start..<filled])
    bytesConsumed += Int64(filled - start)
    start = filled
    isSkipping = true
  }

  private func fill() throws(IOFailure) {
    moveHeldToFront()
    if buffer.count - filled < Self.readBytes { buffer += [UInt8](repeating: 0, count: filled) }
    let wanted = watch?.readable(Self.readBytes) ?? Self.readBytes
    let got = wanted == 0 ? 0 : try source.read(into: &buffer, at: filled, count: wanted)
    let found = watch?.note(buffer[filled..<filled + got], of: wanted, from: source) ?? .same
    if found != .same { finding = found }
    isAtEnd = got == 0 || found == .changed
    if found != .changed { filled += got }
  }

  private func moveHeldToFront() {
    let (from, count) = (start, filled - start)
    unsafe buffer.withUnsafeMutableBytes { bytes in
      let base = bytes.baseAddress!
      unsafe _ = memmove(base, base + from, count)
    }
    (start, scanned, filled) = (0, scanned - from, count)
  }
}
