import ArgumentParser

/// Which cache a command is about.
struct CachePlace: ParsableArguments {
  @Option(
    name: .customLong("cache"),
    help: ArgumentHelp(
      "The folder of the cache. Default: $XDG_CACHE_HOME/netspool/default, or ~/.cache/netspool/default.",
      valueName: "dir"))
  var directory: String?

  func validate() throws {
    if directory?.isEmpty == true { throw ValidationError("--cache is a folder.") }
  }

  /// The folder, whether it is there or not. Nil when nothing names one.
  func path(_ environment: Environment) -> String? {
    directory ?? Self.defaultPath(environment)
  }

  /// Where the library's engines keep their caches as well (XDG Base Directory Specification: a relative path in
  /// the variable counts as none).
  static func defaultPath(_ environment: Environment) -> String? {
    func absolute(_ name: String) -> String? { environment[name].flatMap { $0.hasPrefix("/") ? $0 : nil } }
    let base = absolute("XDG_CACHE_HOME") ?? absolute("HOME").map { "\($0)/.cache" }
    return base.map { "\($0)/netspool/default" }
  }
}
