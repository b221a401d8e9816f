import Glibc

/// The largest resident size this process ever had.
func peakMemoryKiB() -> Int {
  var usage = rusage()
  _ = unsafe getrusage(Int32(RUSAGE_SELF.rawValue), &usage)
  return usage.ru_maxrss
}
