internal import Glibc

/// A body into memory, up to a limit.
final class MemorySink: Sink {
  /// 64 MiB, unless told otherwise.
  static let bytesMaxDefault = 64 << 20

  private(set) var bytes: [UInt8] = []
  private let bytesMax: Int
  private let digests: Bool
  private(set) var report = NetworkResponse.StreamReport()

  init(bytesMax: Int = MemorySink.bytesMaxDefault, digests: Bool = true) {
    self.bytesMax = bytesMax
    self.digests = digests
  }

  /// Throws EFBIG when the announced length is already too much: not a byte is fetched for nothing.
  func open(
    _ head: ResponseHead, bytesExpected: Int64?, ready: @escaping () -> Void
  ) throws(SinkFailure) {
    guard let bytesExpected else { return }
    guard bytesExpected <= bytesMax else { throw tooLong }
    bytes.reserveCapacity(Int(bytesExpected))
  }

  func write(_ bytes: RawSpan) throws(SinkFailure) -> Int {
    guard bytes.byteCount <= bytesMax - self.bytes.count else { throw tooLong }
    self.bytes.append(bytes)
    return bytes.byteCount
  }

  func finish(_ failure: NetworkError?) throws(SinkFailure) -> SinkProgress {
    report.bytes = Int64(bytes.count)
    if failure == nil && digests { report.digest = digest() }
    return .done
  }

  private func digest() -> [UInt8] {
    let bytes = bytes
    var digest = SHA256()
    digest.update(bytes.rawBytes)
    return digest.finish()
  }

  private var tooLong: SinkFailure {
    SinkFailure(errno: EFBIG, reason: "the body is longer than the \(bytesMax) bytes it may have in memory")
  }
}
