import Dispatch
import Glibc
import Synchronization

/// A name server (RFC 1035, over UDP) on port 53 of 127.0.0.1 that answers as it is told. For tests that run in a
/// network namespace: see `InNamespace`.
final class NameServer: Sendable {
  enum Answer: Sendable {
    /// These IPv4 addresses, and no IPv6 ones.
    case addresses([UInt32])
    /// This IPv4 address, and an IPv6 address where nobody answers.
    case withBrokenIPv6(UInt32)
    /// There is no such name: NXDOMAIN.
    case notFound
    /// SERVFAIL.
    case serverFailure
    case silence
  }

  static let loopback: UInt32 = 0x7F00_0001

  private struct State: Sendable {
    var answers: [String: Answer] = [:]
    var fallback = Answer.notFound
    var asked: [String] = []
    var isStopped = false
  }

  private let socket: TestDescriptor
  private let state = Mutex(State())
  private let ended = DispatchGroup()

  init() throws {
    let type = Int32(SOCK_DGRAM.rawValue | SOCK_CLOEXEC.rawValue)
    socket = try TestDescriptor(owning: Glibc.socket(AF_INET, type, 0), from: "socket")
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_port = UInt16(53).bigEndian
    address.sin_addr.s_addr = Self.loopback.bigEndian
    let result = unsafe withUnsafePointer(to: &address) { pointer in
      unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        unsafe bind(socket.number, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
      }
    }
    guard result == 0 else { throw PartFailure("port 53: errno \(errno)") }
    ended.enter()
    DispatchQueue(label: "name server").async { self.serve() }
  }

  /// Ends it; must be called, because its thread holds it.
  func stop() {
    state.withLock { $0.isStopped = true }
    ended.wait()
  }

  /// What to answer for a name; for all others it is the fallback.
  func set(_ name: String, _ answer: Answer) { state.withLock { $0.answers[name] = answer } }
  func setFallback(_ answer: Answer) { state.withLock { $0.fallback = answer } }

  /// Every name that was asked for, once.
  var namesAsked: Set<String> { Set(state.withLock { $0.asked }) }

  /// Waits until so many names were asked for.
  func waitForNames(_ count: Int, before deadline: Deadline = .generous) async -> Bool {
    while namesAsked.count < count {
      guard deadline.millisecondsLeft > 0 else { return false }
      await moment()
    }
    return true
  }

  private func serve() {
    defer { ended.leave() }
    while !state.withLock({ $0.isStopped }) {
      guard socket.isReadable(before: Deadline(after: .milliseconds(20))) else { continue }
      answerOne()
    }
  }

  private func answerOne() {
    var bytes = [UInt8](repeating: 0, count: 4_096)
    var peer = sockaddr_in()
    var size = socklen_t(MemoryLayout<sockaddr_in>.size)
    let count = unsafe withPeer(&peer) { address in
      unsafe bytes.withUnsafeMutableBytes {
        unsafe recvfrom(socket.number, $0.baseAddress, $0.count, 0, address, &size)
      }
    }
    guard count > 0, let question = NameQuestion(bytes[..<count]) else { return }
    guard let reply = reply(to: question) else { return }
    _ = unsafe withPeer(&peer) { address in
      unsafe reply.withUnsafeBytes {
        unsafe sendto(socket.number, $0.baseAddress, $0.count, 0, address, size)
      }
    }
  }

  private func withPeer(_ peer: inout sockaddr_in, _ body: (UnsafeMutablePointer<sockaddr>) -> Int) -> Int {
    unsafe withUnsafeMutablePointer(to: &peer) { pointer in
      unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { unsafe body($0) }
    }
  }

  private func reply(to question: NameQuestion) -> [UInt8]? {
    let answer = state.withLock { state in
      state.asked.append(question.name)
      return state.answers[question.name] ?? state.fallback
    }
    switch answer {
    case .silence: return nil
    case .notFound: return question.reply(code: 3)
    case .serverFailure: return question.reply(code: 2)
    case .addresses(let addresses): return question.reply(addresses: addresses)
    case .withBrokenIPv6(let address):
      let nobody: [UInt8] = [0x20, 0x01, 0x0D, 0xB8] + [UInt8](repeating: 0, count: 11) + [0x99]
      return question.reply(addresses: [address], longAddresses: [nobody])
    }
  }
}
