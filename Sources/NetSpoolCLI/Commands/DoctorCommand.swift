import ArgumentParser
import Glibc
import NetSpool

/// `netspool doctor`: what this program is made of and what it may use.
struct DoctorCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "doctor",
    abstract: "Say what is wrong here, and show versions, limits, defaults and folders.",
    discussion: "Each of the checks is ok, a warning, or bad, with what to do. Exit status 1 when one is bad."
  )

  @OptionGroup var options: DoctorOptions

  func run() throws {
    FileLimit.raise()
    let checks = DoctorCheck.all(
      .process, cache: options.place.path(.process), frozen: options.frozen.path(.process))
    let sheet = FactSheet.doctor(.process, options, checks)
    try JobStatus.exit { _ in
      try StandardOutput.write(options.json ? sheet.json : Array(sheet.text.utf8))
      return checks.contains { $0.verdict == .bad } ? .failedForGood : .allDone
    }
  }
}

/// The options of `netspool doctor`.
struct DoctorOptions: ParsableArguments {
  @OptionGroup var place: CachePlace

  @OptionGroup var frozen: FrozenPlace

  @Flag(help: "Print JSON instead of a table.")
  var json = false
}

extension FactSheet {
  /// This program on this machine.
  static func doctor(
    _ environment: Environment, _ options: DoctorOptions, _ checks: [DoctorCheck]
  ) -> FactSheet {
    FactSheet(groups: [
      versions, network, limits, defaults, directories(environment, options.place.path(environment)),
      frozen(options.frozen, environment),
      Group(name: "checks", entries: checks.map { ($0.name, .text("\($0.verdict): \($0.text)")) }),
    ])
  }

  private static var versions: Group {
    let libraries = LibraryVersions.loaded
    return Group(
      name: "versions",
      entries: [
        ("netspool", .text(NetSpoolTool.version)), ("libcurl", .text(libraries.curl)),
        ("tls", libraries.tls.map { .text($0) } ?? .none("none: https does not work")),
        ("http2", libraries.http2.map { .text($0) } ?? .none("none: HTTP/1.1 only")),
        ("libuv", .text(libraries.uv)), ("lmdb", .text(libraries.lmdb)), ("zlib", .text(libraries.zlib)),
      ])
  }

  private static var network: Group {
    let link = LinkReport.now
    let families = link?.families.joined(separator: ", ") ?? ""
    return Group(
      name: "network",
      entries: [
        (
          "routes",
          link == nil
            ? .none("unknown: netlink is not permitted") : families.isEmpty ? .none("none") : .text(families)
        ),
        ("interface", link?.interface.map { .text($0.name) } ?? .none("none")),
        (
          "link",
          link?.interface.map { .text($0.isCellular ? "cellular" : "local") } ?? .none("none")
        ),
      ])
  }

  private static var limits: Group {
    let files = FileLimit.current
    return Group(
      name: "limits",
      entries: [
        ("cores", .number(sysconf(Int32(_SC_NPROCESSORS_ONLN)), unit: "")),
        ("open files", count(files.soft)), ("open files at most", count(files.hard)),
        ("line", .number(ListReader.lineBytesMax, unit: "bytes")),
        ("error page", .number(RequestOptions.errorPageBytesMax, unit: "bytes")),
      ])
  }

  private static func count(_ limit: UInt) -> Value {
    Int(exactly: limit).map { .number($0, unit: "") } ?? .none("unlimited")
  }

  private static var defaults: Group {
    let (queue, timeouts, limits, cache) = (
      NetworkQueue.Configuration(), NetworkRequest.Timeouts(), NetworkEngine.Configuration().limits,
      CacheConfiguration()
    )
    let stall: FactSheet.Value =
      timeouts.stall.map { .number(Int($0.seconds), unit: "seconds") } ?? .none("none")
    return Group(
      name: "defaults",
      entries: [
        ("transfers", .number(queue.maximumConcurrent, unit: "")),
        ("transfers per origin", .number(queue.maximumPerOrigin, unit: "")),
        ("window", .number(FetchJob.window(for: .auto), unit: "")),
        ("connect timeout", .number(Int(timeouts.connect.seconds), unit: "seconds")),
        ("head timeout", .number(Int(timeouts.headers.seconds), unit: "seconds")),
        ("stall timeout", stall),
        ("timeout", .number(RequestOptions.timeoutSeconds, unit: "seconds")),
        ("retries", .number(RequestOptions.retriesByDefault, unit: "")),
        ("decoded body", .number(Int(limits.decodedBytesMax), unit: "bytes")),
        ("cache size", .number(cache.bytesMax, unit: "bytes")),
        ("cached body", .number(cache.bodyBytesMax, unit: "bytes")),
        ("cache resident", .number(CacheSettings.residentBytesMax, unit: "bytes")),
      ])
  }

  private static func directories(_ environment: Environment, _ cache: String?) -> Group {
    let temporary = Ledger.temporaryDirectory(environment)
    return Group(
      name: "directories",
      entries: [
        ("temporary", .text(temporary)),
        (
          "temporary free",
          DiskRoom.free(in: temporary).map { .number($0, unit: "bytes") } ?? .none("unknown")
        ),
        ("cache", cache.map { .text($0) } ?? .none("none: neither XDG_CACHE_HOME nor HOME is set")),
        (
          "cache file",
          cache.flatMap(CacheFiles.bytes).map { .number($0, unit: "bytes") } ?? .none("not there yet")
        ),
        (
          "cache free",
          cache.flatMap(DiskRoom.free(below:)).map { .number($0, unit: "bytes") } ?? .none("unknown")
        ),
      ])
  }
}

extension FactSheet {
  /// The store of frozen requests: looked at first, so that a damaged one stays as it is.
  static func frozen(_ place: FrozenPlace, _ environment: Environment) -> Group {
    guard let directory = place.path(environment) else {
      return Group(
        name: "frozen",
        entries: [
          ("directory", .none("none: neither XDG_STATE_HOME nor HOME is set")), ("state", .none("none")),
        ])
    }
    var entries: [(name: String, value: Value)] = [("directory", .text(directory))]
    do {
      entries += try state(of: directory, place, environment)
    } catch let failure as StoreFailure {
      entries.append(("state", .text(failure.cause)))
    } catch {
      entries.append(("state", .text("\(error)")))
    }
    return Group(name: "frozen", entries: entries)
  }

  private static func state(
    of directory: String, _ place: FrozenPlace, _ environment: Environment
  ) throws -> [(name: String, value: Value)] {
    guard try FrozenFiles.hasStore(in: directory) else { return [("state", .none("not there yet"))] }
    do throws(NetworkError) {
      if case .damaged(let why, _) = try FrozenStoreFinding.inspect(directory) {
        return [("state", .text("damaged (\(why)): the next request puts it aside"))]
      }
    } catch {
      guard let owner = StoreFailure.owner(error) else { throw StoreFailure(.frozen, directory, error) }
      return [("state", .text("in use")), ("owner", .text(owner))]
    }
    let hold = try FrozenHold(try FrozenSettings(place, environment), nil)
    defer { hold.close() }
    hold.flush()
    return [
      ("state", .text("in order")), ("owner", .none("none")),
      ("waiting", .number(hold.engine.frozenOperations.count, unit: "")),
      ("dead letters", .number(hold.engine.deadLetters.count, unit: "")),
    ]
  }
}
