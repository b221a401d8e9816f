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
  private let reader: TestDescriptor
  private let (gate, done) = (Latch(), Latch())
  private let result = Variable<[UInt8]>([])

  init() throws {
    let ends = try makePipe()
    reader = try TestDescriptor(owning: ends.read, from: "pipe")
    writerNumber = ends.write
    writer = Mutex(try TestDescriptor(owning: ends.write, from: "pipe"))
    DispatchQueue(label: "pipe reader").async { [self] in
      gate.block()
      result.value = Self.digest(of: reader.number)
      done.open()
    }
  }

  /// The reader begins.
  func release() { gate.open() }

  /// The reader sees the end.
  func closeWriter() { writer.withLock { $0 = nil } }

  /// The SHA-256 of all that went through; the writing end must have been closed by then.
  func digest() -> [UInt8] {
    done.block()
    return result.value
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
