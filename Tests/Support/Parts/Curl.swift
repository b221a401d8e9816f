/// The command line tool curl: another client, to see what a part does when ours is not asked.
enum Curl {
  struct Result: Sendable {
    let output: String
    let exit: ChildProcess.Exit
  }

  /// Runs it, and reads nothing from its configuration nor proxies from the environment.
  static func run(_ arguments: String...) throws -> Result { try start(arguments) }

  /// The status of the last answer.
  static func status(_ arguments: String...) throws -> String {
    try start(["-o", "/dev/null", "-w", "%{http_code}"] + arguments).output
  }

  private static func start(_ arguments: [String]) throws -> Result {
    let direct = arguments.contains("-x") ? [] : ["-x", ""]
    let result = try ChildProcess.run(
      ["curl", "--disable", "--silent", "--max-time", "20", "--noproxy", ""] + direct + arguments)
    return Result(output: String(decoding: result.output, as: UTF8.self), exit: result.exit)
  }
}
