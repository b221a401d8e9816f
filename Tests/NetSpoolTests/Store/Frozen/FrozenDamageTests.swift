import Glibc
import Testing

@testable import NetSpool
@testable import TestSupport
@testable import netspool_crash

/// Files that are not what was written.
struct FrozenDamageTests {
  @Test func `damaged rows are set aside one by one`() throws {
    let directory = try TestFolder(in: TestFiles.fast)
    var store = try directory.openFrozen()
    for number in 0..<40 {
      _ = try store.accept(
        "payload-\(number)-", lane: "\(number % 3)", dedupe: "key \(number)", body: [UInt8(number)])
    }
    store.close()
    // Given two rows with a changed byte each
    try directory.change { bytes in
      for text in ["payload-7-", "payload-23-"] {
        let wanted = Array(text.utf8)
        for place in bytes.indices where bytes[place] == wanted[0] && bytes[place...].starts(with: wanted) {
          bytes[place] ^= 1
        }
      }
    }
    store = try directory.openFrozen()
    // Then these two are dead letters, and all others are as they were
    #expect(store.damaged == [8, 24])
    #expect(try store.numbers == (1...40).filter { $0 != 8 && $0 != 24 })
    let letters = try store.endings(.deadLetters)
    #expect(letters.map(\.number) == [8, 24])
    #expect(letters.map(\.ending.isDamaged) == [true, true])
    let seen = try FrozenTablesSeen(store)
    #expect(seen.isConsistent)
    #expect(seen.dedupe == seen.rec)
    #expect(seen.remains == [8, 24])
    #expect(try store.accept("new") == 41)
    // And so they stay
    store.close()
    store = try directory.openFrozen()
    #expect(store.damaged.isEmpty)
    #expect(try store.endings(.deadLetters).count == 2)
  }

  /// As where the row lay on a page that is gone: only its number is known.
  @Test func `a dead letter of which no byte is left is still read`() throws {
    let letter = FrozenEnding(endedAt: ClockMoment(wall: 5, monotonic: 0), isDamaged: true, payload: [])
    let bytes = letter.encode(7)
    let read = FrozenEnding(7, decoding: bytes.rawBytes)
    #expect(read == letter)
  }

  /// No accident makes its checksum right, but whoever may write the file does.
  @Test func `a row whose body would have less than no bytes is none`() {
    var bytes = FrozenRow.sample("one").encode(7)
    bytes.replace(integerAt: 56, with: 5)
    bytes.seal(seed: 7)
    #expect(FrozenRow(7, decoding: bytes.rawBytes)?.bodyBytes == 5)
    bytes.replace(integerAt: 56, with: .max)
    bytes.seal(seed: 7)
    #expect(FrozenRow(7, decoding: bytes.rawBytes) == nil)
  }

  @Test func `a damaged body is found before it is sent`() throws {
    let directory = try TestFolder(in: TestFiles.fast)
    var store = try directory.openFrozen()
    let text = "a body that stands on pages of its own " + String(repeating: "x", count: 9_000)
    _ = try store.accept("one", body: Array(text.utf8))
    _ = try store.accept("two")
    store.close()
    try directory.change { bytes in
      let wanted = Array("pages of its own".utf8)
      let place = bytes.indices.last { bytes[$0...].starts(with: wanted) }
      bytes[try #require(place)] ^= 1
    }
    store = try directory.openFrozen()
    #expect(store.write([.attempt(1, payload: [])])[0].failure?.code == .storeCorrupt)
    #expect(try store.write(.attempt(2, payload: [])).body == Array("two".utf8))
    // It can be made a dead letter with what is left of it
    try store.write(.deadLetter(1, .sample("damaged"), keepsBody: true))
    #expect(store.write([.revive(1, .sample("again"))])[0].failure?.code == .storeCorrupt)
    #expect(try FrozenTablesSeen(store).isConsistent)
  }

  @Test func `a row of a later release is refused and left alone`() throws {
    let directory = try TestFolder(in: TestFiles.fast)
    let store = try directory.openFrozen()
    _ = try store.accept("from tomorrow", body: [9])
    store.close()
    // Given a whole row with a version that nobody knows
    var bytes = try directory.read("data.mdb")
    let payload = Array("from tomorrow".utf8)
    for place in bytes.indices where bytes[place...].starts(with: payload) {
      let row = place - 72
      guard row > 0, bytes[row + 8] == 1 else { continue }
      bytes[row + 8] = 2
      let checksum = Checksum.of(Array(bytes[(row + 8)..<(place + payload.count)]).rawBytes, seed: 1)
      for index in 0..<8 { bytes[row + index] = UInt8(truncatingIfNeeded: checksum >> (8 * index)) }
    }
    try directory.write("data.mdb", bytes)
    let failure = #expect(throws: NetworkError.self) { _ = try directory.openFrozen() }
    #expect(failure?.code == .storeOpenFailed)
    #expect(failure?.reason == "newerSchema")
    #expect(try directory.read("data.mdb").count == bytes.count)
    #expect(directory.badFiles.isEmpty)
  }

  /// Random damage: whatever is served is what was written, and the second start is always up.
  @Test(arguments: 0..<(LongRun.isOn ? 2_000 : 16) as Range<UInt64>)
  func `random damage serves no wrong bytes`(seed: UInt64) throws {
    var random = SplitMix64(seed: seed)
    let directory = try TestFolder(in: TestFiles.fast)
    var store = try directory.openFrozen()
    func body(_ number: UInt64) -> [UInt8] {
      Array("body \(number) ".utf8) + [UInt8](repeating: UInt8(number), count: Int(number) * 300)
    }
    for number: UInt64 in 1...20 { _ = try store.accept("payload \(number)", body: body(number)) }
    store.close()
    var bytes = try directory.read("data.mdb")
    for _ in 0...Int(random.next() % 3) {
      let start = Int(random.next() % UInt64(bytes.count))
      let count = random.chance(50) ? 1 : Int(random.next() % 500)
      for place in start..<min(start + count, bytes.count) {
        bytes[place] = UInt8(truncatingIfNeeded: random.next())
      }
    }
    try directory.write("data.mdb", bytes)
    store = try directory.openFrozen()
    for number in try store.numbers {
      let payload = Array("payload \(number)".utf8)
      #expect(try store.row(number)?.payload == payload, "seed \(seed)")
      guard let receipt = try? store.write(.attempt(number, payload: payload)) else { continue }
      #expect(receipt.body == body(number), "seed \(seed)")
    }
    store.close()
    store = try directory.openFrozen()
    #expect(try store.accept("new") > 0)
  }

  // MARK: What the disk says

  private static let roomy = 1_073_741_824
  private static let judged: [(expected: FrozenTrouble, number: Int32, freeBytes: Int)] = [
    (.mapFull, -30_792, roomy), (.diskFull, ENOSPC, roomy), (.diskFull, EDQUOT, roomy),
    (.diskFull, EFBIG, roomy), (.diskFull, EIO, 0), (.broken, EIO, roomy), (.broken, EROFS, roomy),
    (.broken, -30_796, roomy),
  ]

  @Test(arguments: judged)
  func `errors are judged`(expected: FrozenTrouble, number: Int32, freeBytes: Int) {
    #expect(FrozenTrouble(StoreError(number: number), freeBytes: freeBytes) == expected)
  }
}
