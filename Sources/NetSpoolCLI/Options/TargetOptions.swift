import ArgumentParser
import Glibc

/// Where an answer goes, and what is told of it.
struct TargetOptions: ParsableArguments {
  /// The n-th is for the n-th URL. `remoteName` stands for each `--remote-name` of the command line: `CommandWords` makes one
  /// option of both.
  @Option("output", of: "get") var output: [String] = []
  @Flag("remote-name") var remoteNames = false
  @Flag("remote-name-all") var remoteNameAll = false
  @Flag("remote-header-name") var remoteHeaderName = false
  @Option("output-dir") var outputDir: String?
  @Flag("create-dirs") var createDirs = false
  @Option("continue-at") var continueAt: ContinueAt?
  @Flag("continue") var continues: Bool?
  @Flag("remote-time") var remoteTime = false
  @Option("range") var range: String?
  @Option("time-cond") var timeCond: String?
  @Flag("head") var head = false
  @Flag("include") var include = false
  @Option("dump-header") var dumpHeader: String?
  @Option("write-out") var writeOut: String?
  @Flag("fail") var fail: Bool?
  @Flag("fail-with-body") var failWithBody = false
  @Flag("silent", of: "get") var silent = false
  @Flag("show-error") var showError = false
  @Flag("verbose") var verbose = false
  @Option("har") var har: String?
  @Flag("globoff") var globoff = false
  @Flag("no-clobber") var noClobber = false
  @Option("etag-save") var etagSave: String?
  @Option("etag-compare") var etagCompare: String?
  @Option("stderr") var stderr: String?
  @Flag("remove-on-error") var removeOnError = false
  @Flag("no-buffer") var noBuffer = false
  @Flag("progress-bar") var progressBar = false
  @Flag("no-progress-meter") var noProgressMeter = false

  func validate() throws {
    if let range, !Self.isRange(range) { throw ValidationError("--range is as 0-499, 500- or -500.") }
    try refuse(remoteHeaderName && !namesRemotely, "--remote-header-name goes with --remote-name.")
    try refuse(fail == true && failWithBody, "--fail and --fail-with-body contradict each other.")
    if resumption != nil { try validateResumption() }
  }

  private func validateResumption() throws {
    try refuse(range != nil, "--continue-at and --range contradict each other.")
    try refuse(output.isEmpty && !remoteNameAll, "--continue-at goes on writing a file: -o or -O names it.")
    try refuse(
      remoteHeaderName,
      "--continue-at has to know the file before the server names it: leave out --remote-header-name.")
    try refuse(include, "--continue-at and --include contradict each other: a head stands in no part.")
  }

  func redirectMessages() throws(IOFailure) {
    guard let path = stderr else { return }
    let file = try Descriptor.writing(path)
    guard dup2(file.number, 2) == 2 else { throw .last("write", path) }
  }

  private static func isRange(_ text: String) -> Bool {
    text.split(separator: ",", omittingEmptySubsequences: false).allSatisfy { part in
      let ends = part.split(separator: "-", omittingEmptySubsequences: false)
      return !["", "-"].contains(part) && ends.count <= 2 && ends.allSatisfy { $0.allSatisfy(\.isASCIIDigit) }
    }
  }

  /// True if the body of an error goes to a target.
  func keepsErrors(isFile: Bool) -> Bool { fail.map { !$0 } ?? (failWithBody || !isFile) }

  /// No path, as it holds a NUL: the file is called as the URL ends.
  static let remoteName = "\0"

  /// What `-o` or `-O` says of the n-th URL; nil: standard output.
  func place(of number: Int) -> String? {
    output.indices.contains(number) ? output[number] : remoteNameAll ? Self.remoteName : nil
  }

  private var namesRemotely: Bool { remoteNameAll || output.contains(Self.remoteName) }

  /// True when messages are printed.
  var isMute: Bool { silent && !showError }

  /// Where to go on; nil: anew.
  var resumption: ContinueAt? { continueAt ?? (continues == true ? .part : nil) }
}

enum ContinueAt: Equatable, Sendable, ExpressibleByArgument {
  case part
  case byte(Int64)

  init?(argument: String) {
    let byte = argument.allSatisfy(\.isASCIIDigit) ? Int64(argument).map(Self.byte) : nil
    guard let place = argument == "-" ? .part : byte else { return nil }
    self = place
  }
}

extension Character { var isASCIIDigit: Bool { isASCII && isNumber } }
