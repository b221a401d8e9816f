/// Memory that was given back to the allocator, and that it keeps.
enum FreeMemory {
  private typealias Trim = @convention(c) (Int) -> Int32

  /// malloc_trim(3), which the Glibc module hides; nil with another C library.
  private static let trim: Trim? = LoadedLibraries.function("malloc_trim", as: Trim.self)

  /// Gives whole pages of it to the system. glibc does so by itself at the end of its heap only, and after a crowd of
  /// operations there is always something that lies behind them. Holds up others that allocate, for some 50 ms for each
  /// 100 MiB.
  static func giveBack() { _ = trim?(0) }
}
