internal import Glibc

extension SystemFile {
  /// The permissions a program's new files get: 0666 without its umask, as it was when first asked.
  ///
  /// Read from the kernel's report, because `umask(2)` can only be asked by changing it, and another
  /// thread's file created in between would get the wrong permissions.
  static let newFilePermissions: UInt32 = 0o666 & ~processMask()

  private static func processMask() -> UInt32 {
    umaskInReport() ?? 0o077
  }

  private static func umaskInReport() -> UInt32? {
    guard let report = try? readSmall("/proc/self/status") else { return nil }
    for line in report.split(separator: UInt8(ascii: "\n")) where line.starts(with: "Umask:".utf8) {
      let digits = String(decoding: line.dropFirst(6), as: UTF8.self).filter { !$0.isWhitespace }
      return UInt32(digits, radix: 8)
    }
    return nil
  }

  /// The first 4 KiB of a file.
  private static func readSmall(_ path: String) throws(CallFailure) -> [UInt8] {
    let file = SystemFile(owning: try check { unsafe open(path, O_RDONLY | O_CLOEXEC) })
    var bytes = [UInt8](repeating: 0, count: 4096)
    let count = try check { () -> Int in
      unsafe bytes.withUnsafeMutableBytes { unsafe read(file.descriptor, $0.baseAddress, $0.count) }
    }
    return Array(bytes.prefix(count))
  }
}
