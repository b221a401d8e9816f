import Glibc

/// The memory of this process that is in RAM, in bytes.
func residentBytes() -> Int { statusBytes("VmRSS:") }

/// The most it ever was since `forgetPeak`.
func peakBytes() -> Int { statusBytes("VmHWM:") }

/// Sets the peak to what is resident now (proc(5), clear_refs).
func forgetPeak() { try? TestFiles.write(Array("5".utf8), to: "/proc/self/clear_refs") }

private func statusBytes(_ name: String) -> Int {
  let text = (try? TestFiles.text("/proc/self/status")) ?? ""
  let line = text.split(separator: "\n").first { $0.hasPrefix(name) }
  let words = line?.split(whereSeparator: { $0 == " " || $0 == "\t" }) ?? []
  return words.count > 1 ? (Int(words[1]) ?? 0) << 10 : 0
}

/// The process's time on the CPU, in seconds.
func cpuSeconds() -> Double { Double(clock()) / Double(CLOCKS_PER_SEC) }
