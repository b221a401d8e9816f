import ArgumentParser

/// Which store of frozen requests a command is about.
struct FrozenPlace: ParsableArguments {
  @Option(
    name: .customLong("frozen-store"),
    help: ArgumentHelp(
      "The folder of the frozen requests, one for all calls. Default: $XDG_STATE_HOME/netspool/tool, or "
        + "~/.local/state/netspool/tool.", valueName: "dir"))
  var directory: String?

  func validate() throws {
    if directory?.isEmpty == true { throw ValidationError("--frozen-store is a folder.") }
  }

  /// The folder, whether it is there or not. Nil when nothing names one.
  func path(_ environment: Environment) -> String? { directory ?? Self.defaultPath(environment) }

  /// Not that of the library's engines: a store has one owner, and a program that runs would keep this one out. (XDG
  /// Base Directory Specification: a relative path in the variable counts as none.)
  static func defaultPath(_ environment: Environment) -> String? {
    func absolute(_ name: String) -> String? { environment[name].flatMap { $0.hasPrefix("/") ? $0 : nil } }
    let base = absolute("XDG_STATE_HOME") ?? absolute("HOME").map { "\($0)/.local/state" }
    return base.map { "\($0)/netspool/tool" }
  }

  /// As it was given, for a command that is to be pasted.
  var words: [String] { directory.map { ["--frozen-store", $0] } ?? [] }
}
