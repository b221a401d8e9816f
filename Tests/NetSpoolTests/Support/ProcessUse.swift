import Glibc

/// What the process has open, from proc(5).
struct ProcessUse {
  var descriptors: Int
  /// Threads of the name that loop threads have.
  var loopThreads: Int

  static var now: ProcessUse {
    let threads = names(in: "/proc/self/task").map {
      (try? TestFiles.text("/proc/self/task/\($0)/comm")) ?? ""
    }
    return ProcessUse(
      descriptors: names(in: "/proc/self/fd").count,
      loopThreads: threads.filter { $0.hasPrefix("netspool\n") }.count)
  }

  /// Looks again and again for ten seconds.
  static func becomes(_ condition: (ProcessUse) -> Bool) async -> Bool {
    let end = ContinuousClock.now + .seconds(10)
    while ContinuousClock.now < end {
      if condition(now) { return true }
      await Task.yield()
    }
    return condition(now)
  }

  private static func names(in directory: String) -> [String] {
    guard let stream = unsafe opendir(directory) else { return [] }
    defer { unsafe closedir(stream) }
    var names: [String] = []
    while let entry = unsafe readdir(stream) {
      let name = unsafe withUnsafePointer(to: &entry.pointee.d_name) { pointer in
        unsafe String(cString: UnsafeRawPointer(pointer).assumingMemoryBound(to: CChar.self))
      }
      if !name.hasPrefix(".") { names.append(name) }
    }
    return names
  }
}
