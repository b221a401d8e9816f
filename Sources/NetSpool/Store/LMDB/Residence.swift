internal import Synchronization

/// Keeps what a process has of a store's file in memory within a limit: when that much has come in, all of it is
/// given back, and what is needed again comes from the system's page cache.
///
/// Any thread. Counts what was read, not what is resident, which only the kernel knows.
final class Residence: Sendable {
  private let environment: Environment
  private let limit: Int?
  private let bytes = Atomic<Int>(0)

  /// `limit`: in bytes; nil leaves it all to the system.
  init(of environment: Environment, limit: Int?) {
    self.environment = environment
    self.limit = limit
  }

  /// What one page fault makes resident at most: the kernel maps what it has of the pages around as well
  /// (`fault_around_bytes`, 64 KiB unless a system's owner changed it).
  static let faultBytes = 64 << 10

  /// Notes that so many bytes were read, and how often the place jumped.
  @inline(__always)
  func count(_ count: Int = 0, faults: Int) {
    guard let limit else { return }
    add(count + faults * Self.faultBytes, limit)
  }

  private func add(_ count: Int, _ limit: Int) {
    guard bytes.add(count, ordering: .relaxed).newValue >= limit else { return }
    bytes.store(0, ordering: .relaxed)
    environment.forgetResidentPages()
  }
}
