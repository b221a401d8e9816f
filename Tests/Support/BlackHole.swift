import Glibc

/// A port of 127.0.0.1 that never answers a connection attempt: it listens with a backlog of none, which one
/// connection of ours fills. (listen(2): further attempts are dropped and the client tries again.)
final class BlackHole: Sendable {
  private let listening: LocalSocket
  private let fillers: [LocalSocket]
  var port: UInt16 { listening.port }

  init() throws {
    listening = try LocalSocket.listening()
    guard listen(listening.descriptor.number, 0) == 0 else { throw PartFailure("listen: errno \(errno)") }
    fillers = [try LocalSocket.connected(to: listening.port)]
  }
}
