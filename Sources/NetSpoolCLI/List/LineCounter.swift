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
        guard let lines = Self.lines(of: path, while: { self?.isOver.load(ordering: .relaxed) == false })
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
    let reader = LineReader(file, lineBytesMax: ListReader.lineBytesMax)
    var lines = 0
    while goesOn() {
      switch try? reader.next() {
      case .line(let range)?:
        let first = reader[range].first { $0 != 0x0D && $0 != 0x20 && $0 != 0x09 }
        if let first, first != UInt8(ascii: "#") { lines += 1 }
      case .tooLong?: lines += 1
      case .end?: return lines
      case .starved?, .touched?, nil: return nil
      }
    }
    return nil
  }
}
