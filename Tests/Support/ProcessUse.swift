/// What the process has open, from proc(5).
struct ProcessUse {
  var descriptors: Int
  /// Threads of the name that loop threads have.
  var loopThreads: Int

  static var now: ProcessUse {
    let threads = TestFiles.names(in: "/proc/self/task").map {
      (try? TestFiles.text("/proc/self/task/\($0)/comm")) ?? ""
    }
    return ProcessUse(
      descriptors: TestFiles.names(in: "/proc/self/fd").count,
      loopThreads: threads.filter { $0.hasPrefix("netspool\n") }.count)
  }

  /// Looks again and again.
  static func becomes(_ condition: (ProcessUse) -> Bool) async -> Bool {
    let end = ContinuousClock.now + .patience
    while ContinuousClock.now < end {
      if condition(now) { return true }
      await Task.yield()  // a sleep needs descriptors
    }
    return condition(now)
  }
}
