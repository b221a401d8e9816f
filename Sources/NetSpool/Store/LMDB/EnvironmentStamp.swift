// The file `stamp` beside `data.mdb`, 64 bytes, integers little-endian:
//
//   0  8  "NSPSTAMP"
//   8  4  layout of the records (EnvironmentSettings.layout)
//  12  1  state: 0 left in order, 1 being opened, 2 in use
//  13  1  1 when a page was found damaged while it was in use
//  14  2  how many times in a row an opening did not end
//  16 16  boot id of the kernel under which it was written; zero when unknown
//  32  8  bytes of data.mdb when it was left in order
//  40  8  its modification time then, nanoseconds
//  48  4  process that opened it first
//  52  4  0
//  56  8  checksum of the 56 bytes before
//
// It is locked with flock(2) as long as a process has the environment open: shared, or exclusive by a process
// that wants no other. The lock goes with the process, however it ends.

/// What the last process that used an environment left word of.
struct EnvironmentStamp: Equatable {
  enum State: UInt8 { case orderly = 0, opening = 1, inUse = 2 }

  static let bytes = 64
  static let name = "stamp"
  private static let magic = Array("NSPSTAMP".utf8)

  var layout: UInt32
  var state: State
  var isSuspect = false
  var brokenOpenings: UInt16 = 0
  var boot = BootIdentifier.current
  var dataBytes: Int64 = 0
  var dataModified: Int64 = 0
  var process: UInt32 = 0
}

extension EnvironmentStamp {
  /// Nil for anything that is not a whole stamp.
  init?(decoding bytes: RawSpan) {
    guard bytes.byteCount == Self.bytes,
      Self.magic.indices.allSatisfy({ bytes.byte(at: $0) == Self.magic[$0] }),
      bytes.integer(at: 56, as: UInt64.self) == Checksum.of(bytes.extracting(first: 56)),
      let state = State(rawValue: bytes.byte(at: 12))
    else { return nil }
    self.state = state
    layout = bytes.integer(at: 8)
    isSuspect = bytes.byte(at: 13) != 0
    brokenOpenings = bytes.integer(at: 14)
    boot = BootIdentifier(first: bytes.integer(at: 16), second: bytes.integer(at: 24))
    dataBytes = bytes.integer(at: 32)
    dataModified = bytes.integer(at: 40)
    process = bytes.integer(at: 48)
  }

  func encode() -> [UInt8] {
    var out = Self.magic
    out.append(integer: layout)
    out.append(state.rawValue)
    out.append(isSuspect ? 1 : 0)
    out.append(integer: brokenOpenings)
    out.append(integer: boot.first)
    out.append(integer: boot.second)
    out.append(integer: dataBytes)
    out.append(integer: dataModified)
    out.append(integer: process)
    out.append(integer: UInt32(0))
    out.append(integer: Checksum.of(out.rawBytes))
    return out
  }
}
