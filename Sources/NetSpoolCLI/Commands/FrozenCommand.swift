import ArgumentParser

/// `netspool frozen`: requests that wait on the disk.
struct FrozenCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "frozen", abstract: "Look at what 'post --freeze' left, send it, or drop it.",
    subcommands: [
      FrozenListCommand.self, FrozenThawCommand.self, FrozenReviveCommand.self, FrozenDropCommand.self,
    ])
}

/// `netspool frozen list`.
struct FrozenListCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "list", abstract: "Show what waits, in the order in which it will be sent.",
    discussion: "Looking sends nothing.")

  @Flag(help: "Show dead letters instead: what will not be sent any more, and why. Kept for 7 days.")
  var dead = false

  @Flag(help: "Print one JSON object per request instead of a table.")
  var json = false

  @OptionGroup var place: FrozenPlace

  func run() throws {
    try JobStatus.exit(Console.standardError()) { console in
      try FrozenKeeper(place: place, console: console).list(dead: dead, asJSON: json)
    }
  }
}

/// `netspool frozen thaw [ID...]`.
struct FrozenThawCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "thaw", abstract: "Send what waits, and report each outcome.",
    discussion: """
      Ends when everything is sent, or at the deadline; what is not sent by then stays frozen. Values of secret \
      headers are not in the store: --header gives them again, to requests of one origin at a time.
      Exit status: 0 all sent, 1 some are dead letters, 2 some still wait (run again), 64 usage, 74 the store cannot \
      be used, 130 and 143 stopped by a signal.
      """)

  @OptionGroup var options: ThawOptions

  func run() throws {
    let stop = StopSwitch()
    SignalWatcher.start(stop)
    try JobStatus.exit(Console.standardError()) { console in
      try ThawRun(options: options, console: console, stop: stop).run()
    }
  }
}

/// `netspool frozen revive ID...`.
struct FrozenReviveCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "revive", abstract: "Have dead letters sent after all, with their old keys.",
    discussion: "They wait again; 'netspool frozen thaw' sends them.")

  @Argument(help: "Their numbers.")
  var ids: [UInt64] = []

  @Flag(help: "All that 'frozen list --dead' shows.")
  var all = false

  @OptionGroup var place: FrozenPlace

  func validate() throws { try FrozenChoice.check(ids, all) }

  func run() throws {
    try JobStatus.exit(Console.standardError()) { console in
      try FrozenKeeper(place: place, console: console).revive(all ? nil : ids)
    }
  }
}

/// `netspool frozen drop ID...`.
struct FrozenDropCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "drop", abstract: "Give requests up, and forget dead letters.",
    discussion: "What was dropped is gone: it can neither be sent nor revived.")

  @Argument(help: "Their numbers.")
  var ids: [UInt64] = []

  @Flag(help: "All that waits and all dead letters.")
  var all = false

  @OptionGroup var place: FrozenPlace

  func validate() throws { try FrozenChoice.check(ids, all) }

  func run() throws {
    try JobStatus.exit(Console.standardError()) { console in
      try FrozenKeeper(place: place, console: console).drop(all ? nil : ids)
    }
  }
}

/// Some by their numbers, or all.
private enum FrozenChoice {
  static func check(_ ids: [UInt64], _ all: Bool) throws {
    if ids.isEmpty != all { throw ValidationError("Name the numbers, or --all.") }
  }
}
