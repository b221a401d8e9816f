import ArgumentParser
import Glibc

/// Where an answer goes, and what is told of it.
struct TargetOptions: ParsableArguments {
  @Option(
    name: [.customShort("o"), .long],
    help: ArgumentHelp(
      "Write the body to this file instead of standard output ('-'). It appears when it is whole. With several URLs "
        + "one for each, in their order; '#1' is what stands for the first brackets or braces of the URL.",
      valueName: "file"), completion: .file())
  var output: [PlacedText] = []

  @Flag(
    name: [.customShort("O"), .long],
    help: "Write the body to a file with the name that ends the URL; with several URLs once for each.")
  var remoteName: Int

  /// Where on the command line each `--remote-name` stands; `CommandWords` says it.
  @Option(help: .hidden) var remoteNameAt: [Int] = []

  @Flag(help: "As --remote-name for all URLs.")
  var remoteNameAll = false

  @Flag(
    name: [.customShort("J"), .long],
    help: "With -O: take the name that the server gives (Content-Disposition). A file that is there stays.")
  var remoteHeaderName = false

  @Option(help: ArgumentHelp("Put files into this folder.", valueName: "dir"), completion: .directory)
  var outputDir: String?

  @Flag(help: "Make the folders of --output where they are missing.")
  var createDirs = false

  @Option(
    name: [.customShort("C"), .long],
    help: ArgumentHelp(
      "Go on with a download that broke off: '-' finds out by itself where, a number is a byte. Needs a file.",
      valueName: "-|offset"))
  var continueAt: ContinueAt?

  @Flag(
    name: .customLong("continue"), inversion: .prefixedNo,
    help: "As --continue-at -. Without either, files over 8 MiB go on; with --no-continue none.")
  var continues: Bool?

  @Flag(name: [.customShort("R"), .long], help: "Give the file the time of Last-Modified.")
  var remoteTime = false

  @Option(
    name: [.customShort("r"), .long],
    help: ArgumentHelp("Ask for these bytes only: 0-499, 500-, -500; 500 is 500-.", valueName: "range"))
  var range: String?

  @Option(
    name: [.customShort("z"), .long],
    help: ArgumentHelp(
      "Ask only for what is newer than a date or a file; '-' before it: older.", valueName: "date|file"),
    completion: .file())
  var timeCond: String?

  @Flag(name: [.customShort("I"), .long], help: "Ask for the head alone, and write it.")
  var head = false

  @Flag(name: [.customShort("i"), .long], help: "Write the head before the body.")
  var include = false

  @Option(
    name: [.customShort("D"), .long],
    help: ArgumentHelp("Write the head to this file; '-' is standard output.", valueName: "file"),
    completion: .file())
  var dumpHeader: String?

  @Option(
    name: [.customShort("w"), .long],
    help: ArgumentHelp(
      "Write this to standard output when it is done; '%{http_code}', '%{size_download}', '%{time_total}' and their "
        + "like as curl's, '@file' has it.", valueName: "format"))
  var writeOut: String?

  @Flag(
    name: [.customShort("f"), .long], inversion: .prefixedNo,
    help:
      "With --fail the body of a status of 400 and more goes nowhere, with --no-fail to a file as well. Without either it goes to standard output only."
  )
  var fail: Bool?

  @Flag(help: "As --no-fail.")
  var failWithBody = false

  @Flag(name: [.customShort("s"), .long], help: "No progress, no messages.")
  var silent = false

  @Flag(name: [.customShort("S"), .long], help: "With --silent: messages all the same.")
  var showError = false

  @Flag(name: [.short, .long], help: "Show what is sent and received on standard error, secrets masked.")
  var verbose = false

  @Option(
    help: ArgumentHelp("Write an HTTP archive (HAR 1.2) without bodies, secrets masked.", valueName: "x.har"),
    completion: .file())
  var har: String?

  @Flag(name: [.customShort("g"), .long], help: "Take brackets and braces in URLs as they stand.")
  var globoff = false

  @Flag(help: "Leave a file that is there, and write name.1, name.2, ... beside it.")
  var noClobber = false

  @Option(
    help: ArgumentHelp("Write the ETag of the answer to this file.", valueName: "file"), completion: .file())
  var etagSave: String?

  @Option(
    help: ArgumentHelp("Ask only for what has another ETag than this file holds.", valueName: "file"),
    completion: .file())
  var etagCompare: String?

  @Option(
    help: ArgumentHelp("Write messages to this file; '-' is standard output.", valueName: "file"),
    completion: .file())
  var stderr: String?

  @Flag(help: .hidden)
  var removeOnError = false

  @Flag(name: [.customShort("N"), .long], help: .hidden)
  var noBuffer = false

  @Flag(name: [.customShort("#"), .long], help: .hidden)
  var progressBar = false

  @Flag(help: "No progress.")
  var noProgressMeter = false

  func validate() throws {
    if let range, !Self.isRange(range) { throw ValidationError("--range is as 0-499, 500- or -500.") }
    if remoteHeaderName, !namesRemotely {
      throw ValidationError("--remote-header-name goes with --remote-name.")
    }
    if fail == true, failWithBody {
      throw ValidationError("--fail and --fail-with-body contradict each other.")
    }
    if resumption != nil { try validateResumption() }
  }

  private func validateResumption() throws {
    if range != nil { throw ValidationError("--continue-at and --range contradict each other.") }
    if places.isEmpty, !remoteNameAll {
      throw ValidationError("--continue-at goes on writing a file: -o or -O names it.")
    }
    if remoteHeaderName {
      throw ValidationError(
        "--continue-at has to know the file before the server names it: leave out --remote-header-name.")
    }
    if include {
      throw ValidationError("--continue-at and --include contradict each other: a head stands in no part.")
    }
  }

  /// `--stderr`.
  func redirectMessages() throws(IOFailure) {
    guard let path = stderr else { return }
    let file =
      path == "-"
      ? Descriptor(borrowing: 1, named: "standard output")
      : try Descriptor(opening: path, O_WRONLY | O_CREAT | O_TRUNC)
    guard dup2(file.number, 2) == 2 else { throw .last("write", path) }
  }

  private static func isRange(_ text: String) -> Bool {
    !text.isEmpty
      && text.split(separator: ",", omittingEmptySubsequences: false).allSatisfy { part in
        let ends = part.split(separator: "-", omittingEmptySubsequences: false)
        return ends.count <= 2 && ends.allSatisfy { $0.allSatisfy(\.isASCIIDigit) } && part.count > 1
          || ends.count == 1 && !part.isEmpty && part.allSatisfy(\.isASCIIDigit)
      }
  }

  /// Whether the body of an error goes to a target.
  func keepsErrors(isFile: Bool) -> Bool {
    switch fail {
    case true?: false
    case false?: true
    case nil: failWithBody || !isFile
    }
  }

  /// What `-o` or `-O` says of one URL.
  enum Place: Equatable, Sendable {
    case path(String)
    /// As the URL ends.
    case remoteName
  }

  /// The places that were given, in the order of the command line: the n-th is that of the n-th URL.
  var places: [Place] {
    let paths = output.map { (place: $0.place, what: Place.path($0.text)) }
    let names = remoteNameAt.map { (place: $0, what: Place.remoteName) }
    let others = Array(repeating: Place.remoteName, count: remoteName)
    return (paths + names).sorted { $0.place < $1.place }.map(\.what) + others
  }

  /// Nil: standard output.
  func place(of number: Int) -> Place? {
    let places = places
    return places.indices.contains(number) ? places[number] : remoteNameAll ? .remoteName : nil
  }

  private var namesRemotely: Bool { remoteNameAll || places.contains(.remoteName) }

  /// Whether messages are printed.
  var isMute: Bool { silent && !showError }

  /// Where to go on; nil: anew.
  var resumption: ContinueAt? { continueAt ?? (continues == true ? .part : nil) }
}

/// `--continue-at`.
enum ContinueAt: Equatable, Sendable, ExpressibleByArgument {
  /// Where the part ends.
  case part
  case byte(Int64)

  init?(argument: String) {
    if argument == "-" {
      self = .part
    } else if argument.allSatisfy(\.isASCIIDigit), let byte = Int64(argument) {
      self = .byte(byte)
    } else {
      return nil
    }
  }
}

extension Character {
  var isASCIIDigit: Bool { isASCII && isNumber }
}
