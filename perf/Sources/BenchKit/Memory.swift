import Glibc

/// Resident memory of this process in bytes, from /proc.
package enum Memory {
  /// The highest it has been. Not `ru_maxrss`: that one is inherited from the process that started us.
  package static func peak() -> Int { field("VmHWM:", of: "/proc/self/status") }

  /// What is resident now. `smaps_rollup` counts pages; `status` may lag by a few per thread.
  package static func resident() -> Int { field("Rss:", of: "/proc/self/smaps_rollup") }

  /// Waits until the number stands still for 200 ms (at most 20 s) and answers it.
  package static func settled() -> Int {
    var last = resident()
    var calm = 0
    for _ in 0..<400 where calm < 4 {
      usleep(50_000)
      let now = resident()
      calm = abs(now - last) < 64 * 1024 ? calm + 1 : 0
      last = now
    }
    return last
  }

  private static func field(_ name: String, of path: String) -> Int {
    for line in text(of: path).split(separator: "\n") where line.hasPrefix(name) {
      return
        (line.split(whereSeparator: { $0 == " " || $0 == "\t" }).dropFirst().first.flatMap { Int($0) } ?? 0)
        * 1024
    }
    return 0
  }

  private static func text(of path: String) -> String {
    let descriptor = unsafe open(path, O_RDONLY | O_CLOEXEC)
    guard descriptor >= 0 else { return "" }
    defer { close(descriptor) }
    var bytes = [UInt8](repeating: 0, count: 8192)
    let count = unsafe read(descriptor, &bytes, bytes.count)
    return String(decoding: bytes.prefix(max(0, count)), as: UTF8.self)
  }
}
