import Glibc
import Synchronization

/// A small file of the user's own: a configuration, passwords, cookies.
enum UserFile {
  static let bytesMax = 1 << 20

  /// All of it; nil when there is none.
  static func read(_ path: String) throws(IOFailure) -> String? {
    guard FileFacts(path: path) != nil else { return nil }
    let bytes = try Descriptor(opening: path, O_RDONLY).readAll(atMost: bytesMax)
    return String(decoding: bytes, as: UTF8.self)
  }
}

extension Descriptor {
  /// Everything up to the end; more than the limit is `EFBIG`.
  func readAll(atMost limit: Int) throws(IOFailure) -> [UInt8] {
    var bytes: [UInt8] = []
    try eachPiece { piece throws(IOFailure) in
      bytes += piece
      if bytes.count > limit { throw IOFailure(action: "read", path: path, code: EFBIG) }
    }
    return bytes
  }

  /// Reads up to the end, a piece at a time.
  func eachPiece(_ body: (ArraySlice<UInt8>) throws(IOFailure) -> Void) throws(IOFailure) {
    var buffer = [UInt8](repeating: 0, count: OutputFile.bufferBytes)
    while true {
      let count = try read(into: &buffer, at: 0, count: buffer.count)
      if count == 0 { return }
      try body(buffer[..<count])
    }
  }

  /// Reads the first `count` bytes, a piece at a time; of a file that ends before them that is `EIO`.
  func eachPiece(of count: Int64, _ body: (ArraySlice<UInt8>) throws(IOFailure) -> Void) throws(IOFailure) {
    var left = count
    try eachPiece { piece throws(IOFailure) in
      let part = piece.prefix(Int(min(left, Int64(piece.count))))
      left -= Int64(part.count)
      if !part.isEmpty { try body(part) }
    }
    guard left == 0 else { throw IOFailure(action: "read", path: path, code: EIO) }
  }

  /// The file that curl's users call so: `-` is standard input.
  static func reading(_ path: String) throws(IOFailure) -> Descriptor {
    ["-", "/dev/stdin"].contains(path) ? try standardInput() : try Descriptor(opening: path, O_RDONLY)
  }

  /// A file that is emptied or made; `-` is standard output.
  static func writing(_ path: String) throws(IOFailure) -> Descriptor {
    path == "-"
      ? Descriptor(borrowing: 1, named: "standard output")
      : try Descriptor(opening: path, O_WRONLY | O_CREAT | O_TRUNC)
  }

  private static let isTaken = Atomic(false)

  /// For one reader: a second one would get what was meant for the first, such as a password.
  static func standardInput() throws(IOFailure) -> Descriptor {
    if isTaken.exchange(true, ordering: .relaxed) {
      throw IOFailure(action: "read", path: "standard input again", code: EALREADY)
    }
    return Descriptor(borrowing: 0, named: "standard input")
  }
}
