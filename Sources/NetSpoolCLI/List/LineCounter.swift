import Dispatch
import Glibc
import Synchronization

/// Counts the lines of lists that ask for something, on a thread of its own: the total that progress shows is no guess.
final class LineCounter: Sendable {
  private let count = Mutex<Int?>(nil)
  private let isOver = Atomic(false)

  /// Nil until all are counted, and for ever when one is no plain file.
  var total: Int? { count.withLock { $0 } }

  /// Begins to count; whatever cannot be read is not counted.
  init(paths: [String], extra: Int) {
    DispatchQueue(label: "netspool.lines", qos: .utility).async { [weak self] in
      var total = extra
      for path in paths {
        guard
          let lines = Self.lines(
            of: path, while: { self.map { !$0.isOver.load(ordering: .relaxed) } ?? false })
        else { return }
        total += lines
      }
      self?.count.withLock { $0 = total }
    }
  }

  /// Stops counting, as the job does not ask any more.
  func stop() { isOver.store(true, ordering: .relaxed) }

  /// Lines that are neither blank nor comments.
  static func lines(of path: String, while goesOn: () -> Bool = { true }) -> Int? {
    guard FileFacts(path: path)?.isPlainFile == true, let file = try? Descriptor(opening: path, O_RDONLY)
    else { return nil }
    var (lines, isFresh) = (0, true)
    var buffer = [UInt8](repeating: 0, count: 256 << 10)
    while goesOn() {
      guard let got = try? file.read(into: &buffer, at: 0, count: buffer.count) else { return nil }
      if got == 0 { return lines }
      lines += count(buffer.span.extracting(0..<got), &isFresh)
    }
    return nil
  }

  /// - Parameter isFresh: nothing but blanks has come since the last line feed.
  private static func count(_ bytes: Span<UInt8>, _ isFresh: inout Bool) -> Int {
    var (lines, index) = (0, 0)
    while index < bytes.count {
      if isFresh {
        let byte = bytes[index]
        if byte == 0x0A || byte == 0x0D || byte == 0x20 || byte == 0x09 {
          index += 1
          continue
        }
        isFresh = false
        if byte != UInt8(ascii: "#") { lines += 1 }
      }
      while index < bytes.count, bytes[index] != 0x0A { index += 1 }
      if index < bytes.count {
        isFresh = true
        index += 1
      }
    }
    return lines
  }
}
