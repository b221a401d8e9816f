import CNetSpoolShims
import Glibc
import Synchronization
import Testing

@testable import NetSpool
@testable import TestSupport

@Suite("The guard of libcurl's calls", .ownThreads)
struct CallGuardTests {
  @Test func `sleeps once its loops have been idle for a second`() async {
    let idle = CallGuard()
    idle.watch(GuardedCalls())
    #expect(await until { idle.isAsleep.load(ordering: .relaxed) })
  }

  /// By these alone it tells a flood from a connection whose bytes wait until a thread gets a processor.
  @Test func `takes no bytes for read that only come`() async throws {
    for _ in 0..<20 {
      let listening = try LocalSocket.listening()
      let sender = try LocalSocket.connected(to: listening.port)
      let receiver = try listening.accepted(before: .generous)
      _ = fcntl(sender.descriptor.number, F_SETFL, O_NONBLOCK)
      let isFull = Flag()
      async let filling = blocking {
        defer { isFull.set() }
        return Self.fill(sender.descriptor.number)
      }
      // Given bytes that come and that are not read, then none are said to be
      try await blocking {
        repeat {
          let (least, most) = (Self.least(receiver), Self.most(receiver))
          guard least <= 0, most >= 0 else { throw PartFailure("\(least) at least, \(most) at most") }
        } while !isFull.isSet
      }
      // When all are read, behind which none come, then so many
      let sent = await filling
      var count: Int64 = 0
      while count < sent { count += Int64(try receiver.read(before: .generous).count) }
      #expect(sent > 0 && Self.least(receiver) == sent && Self.most(receiver) == sent)
    }
  }

  private static func least(_ socket: TestDescriptor) -> Int64 { cnetspool_bytes_read(socket.number, false) }
  private static func most(_ socket: TestDescriptor) -> Int64 { cnetspool_bytes_read(socket.number, true) }

  /// As much as the kernel takes. Answers how much that is.
  private static func fill(_ descriptor: Int32) -> Int64 {
    let bytes = [UInt8](repeating: 0, count: 65_536)
    var sent: Int64 = 0
    while true {
      let count = unsafe send(descriptor, bytes, bytes.count, Int32(MSG_NOSIGNAL))
      if count <= 0 { return sent }
      sent += Int64(count)
    }
  }
}
