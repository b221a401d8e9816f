import Glibc

/// A port of this machine that never answers a connection attempt: it listens with a backlog of none, which one
/// connection of ours fills. (listen(2): further attempts are dropped and the client tries again.)
final class BlackHole: Sendable {
  private let listening: LocalSocket
  private let fillers: [LocalSocket]
  var port: UInt16 { listening.port }

  /// - Parameters:
  ///   - host: the last byte of an address of 127.0.0.0/8.
  ///   - port: 0: one of the system's choice.
  init(host: UInt8 = 1, port: UInt16 = 0) throws {
    listening = try LocalSocket.listening(host: host, port: port)
    guard listen(listening.descriptor.number, 0) == 0 else { throw PartFailure("listen: errno \(errno)") }
    fillers = [try LocalSocket.connected(host: host, to: listening.port)]
  }
}
