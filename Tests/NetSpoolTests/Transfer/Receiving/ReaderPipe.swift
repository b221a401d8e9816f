import Dispatch
import Glibc
import NetSpoolTesting
import Synchronization

@testable import NetSpool
@testable import TestSupport

/// A pipe whose reading end is read to its end by a thread, which waits until it is let go.
final class ReaderPipe: Sendable {
  private let writer: Mutex<TestDescriptor?>
  let writerNumber: Int32
  private let reader: Mutex<TestDescriptor?>
  private let gate = DispatchSemaphore(value: 0)
  private let done = DispatchGroup()
  private let result = Mutex<[UInt8]>([])

  /// - Parameter reads: false leaves the reading end alone.
  init(reads: Bool = true) throws {
    let ends = try makePipe()
    reader = Mutex(try TestDescriptor(owning: ends.read, from: "pipe"))
    let number = ends.read
    writerNumber = ends.write
    writer = Mutex(try TestDescriptor(owning: ends.write, from: "pipe"))
    guard reads else { return }
    done.enter()
    DispatchQueue(label: "pipe reader").async { [self] in
      gate.wait()
      let digest = Self.digest(of: number)
      result.withLock { $0 = digest }
      done.leave()
    }
  }

  /// The reader begins.
  func release() { gate.signal() }

  /// The reader sees the end.
  func closeWriter() { writer.withLock { $0 = nil } }

  /// Nobody reads any more.
  func closeReader() { reader.withLock { $0 = nil } }

  /// The SHA-256 of all that went through; the writing end must have been closed by then.
  func digest() -> [UInt8] {
    done.wait()
    return result.withLock { $0 }
  }

  private static func digest(of number: Int32) -> [UInt8] {
    var digest = SHA256()
    while true {
      let piece = unsafe [UInt8](unsafeUninitializedCapacity: 64 << 10) { buffer, count in
        count = unsafe max(0, read(number, buffer.baseAddress, buffer.count))
      }
      if piece.isEmpty { return digest.finish() }
      digest.update(piece.rawBytes)
    }
  }
}

/// The SHA-256 of so many bytes of `BodyPattern`, as a report shows it.
func patternDigest(_ count: Int) -> String {
  var digest = SHA256()
  var position = 0
  // A whole number of the pattern's periods, so that each piece is the same.
  let piece = BodyPattern.bytes(65_521 * 8)
  while position < count {
    digest.update(piece.rawBytes.extracting(..<min(piece.count, count - position)))
    position += piece.count
  }
  return Hexadecimal.text(digest.finish())
}
