import Glibc
import Testing

@testable import TestSupport
@testable import netspool_crash

/// The file system that loses what was not synced.
struct DiskTests {
  /// The file `a/b` after a crash; nil when it is not there.
  private func left(_ events: [Trace.Event], share: Double, unit: Int = 512, seed: UInt64 = 1) throws
    -> [UInt8]?
  {
    let folder = try TestFolder(in: TestFiles.fast)
    var disk = Disk()
    for event in events { disk.take(event) }
    var random = SplitMix64(seed: seed)
    try disk.crash(into: folder.path, CrashChoice(unit: unit, share: share), using: &random)
    guard unsafe access(folder["a/b"], F_OK) == 0 else { return nil }
    return CrashFiles.read(folder["a/b"])
  }

  private static let made: [Trace.Event] = [
    .made(path: "a"), .listed(path: ""), .created(file: 7, path: "a/b"), .listed(path: "a"),
  ]

  private static func write(_ byte: UInt8, _ count: Int, at offset: Int = 0) -> Trace.Event {
    .written(file: 7, offset: offset, bytes: [UInt8](repeating: byte, count: count))
  }

  @Test func `what was synced is there`() throws {
    let events = Self.made + [Self.write(1, 600), .synced(file: 7), Self.write(2, 600)]
    #expect(try left(events, share: 0) == [UInt8](repeating: 1, count: 600))
    #expect(try left(events, share: 1) == [UInt8](repeating: 2, count: 600))
  }

  @Test func `the rest is torn between units`() throws {
    let events = Self.made + [Self.write(1, 8_192), .synced(file: 7), Self.write(2, 8_192)]
    var sizes: Set<Int> = []
    for seed: UInt64 in 1...20 {
      let bytes = try #require(try left(events, share: 0.5, seed: seed))
      for start in stride(from: 0, to: 8_192, by: 512) {
        #expect(Set(bytes[start..<start + 512]).count == 1)
      }
      sizes.insert(bytes.count { $0 == 2 })
    }
    #expect(sizes.count > 3)
    let pages = try #require(try left(events, share: 0.5, unit: 4_096))
    #expect(Set(pages[..<4_096]).count == 1 && Set(pages[4_096...]).count == 1)
  }

  @Test func `a synchronous write is there when it returned`() throws {
    let write = Self.write(3, 100)
    #expect(try left(Self.made + [write], share: 0) == [])
    #expect(
      try left(Self.made + [write, .landed(file: 7, offset: 0, count: 100)], share: 0)
        == [UInt8](repeating: 3, count: 100))
  }

  @Test func `a name is there when its directory was synced`() throws {
    #expect(try left(Self.made, share: 0) == [])
    #expect(try left(Array(Self.made.dropLast()), share: 0) == nil)
    // Given a directory that is nowhere to be found
    let events = [Trace.Event.made(path: "a"), .created(file: 7, path: "a/b"), .listed(path: "a")]
    #expect(try left(events, share: 0) == nil)
    // A rename is whole or not at all
    let renamed: [Trace.Event] = [
      .created(file: 8, path: "a/c"), .listed(path: "a"), .renamed(from: "a/c", to: "a/b"),
    ]
    let written = Self.made + [Self.write(1, 10), .synced(file: 7)] + renamed
    #expect(try left(written, share: 0) == [UInt8](repeating: 1, count: 10))
    #expect(try left(written, share: 1) == [])
    #expect(try left(Self.made + [.removed(path: "a/b"), .listed(path: "a")], share: 0) == nil)
  }
}
