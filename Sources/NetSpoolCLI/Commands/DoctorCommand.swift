import ArgumentParser
import Glibc
import NetSpool

/// `netspool doctor`: what this program is made of and what it may use.
struct DoctorCommand: StatusCommand {
  static let configuration = CommandConfiguration(
    commandName: "doctor",
    abstract: "Say what is wrong here, and show versions, limits, defaults and folders.",
    discussion: "Each of the checks is ok, a warning, or bad, with what to do. Exit status 1 when one is bad."
  )

  @OptionGroup var place: CachePlace
  @OptionGroup var frozen: FrozenPlace
  @Flag(help: "Print JSON instead of a table.") var json = false

  func run(_ console: Console) throws -> JobStatus {
    FileLimit.raise()
    let environment = Environment.process
    let cache = place.path(environment)
    let checks = DoctorCheck.all(environment, cache: cache, frozen: frozen.path(environment))
    let sheet = FactSheet(groups: [
      ("versions", Self.versions), ("network", Self.network), ("limits", Self.limits),
      ("defaults", Self.defaults), ("directories", Self.directories(environment, cache)),
      ("frozen", frozen.facts(environment)),
      ("checks", checks.map { ($0.name, .text("\($0.finding.verdict): \($0.finding.text)")) }),
    ])
    let status = try sheet.print(asJSON: json)
    return checks.contains { $0.finding.verdict == .bad } ? .failedForGood : status
  }

  private static var versions: FactSheet.Entries {
    let libraries = LibraryVersions.loaded
    return [
      ("netspool", .text(NetSpoolTool.version)), ("libcurl", .text(libraries.curl)),
      ("tls", .text(libraries.tls, or: "none: https does not work")),
      ("http2", .text(libraries.http2, or: "none: HTTP/1.1 only")), ("libuv", .text(libraries.uv)),
      ("lmdb", .text(libraries.lmdb)), ("zlib", .text(libraries.zlib)),
    ]
  }

  private static var network: FactSheet.Entries {
    let link = NetworkEngine.linkNow
    let families = link.flatMap { $0.families.isEmpty ? nil : $0.families.joined(separator: ", ") }
    return [
      ("routes", .text(families, or: link == nil ? "unknown: netlink is not permitted" : "none")),
      ("interface", .text(link?.interface?.name, or: "none")),
      ("link", .text(link?.interface.map { $0.isCellular ? "cellular" : "local" }, or: "none")),
    ]
  }

  private static var limits: FactSheet.Entries {
    let files = FileLimit.current
    func count(_ limit: UInt) -> FactSheet.Value {
      Int(exactly: limit).map { .number($0) } ?? .none("unlimited")
    }
    return [
      ("cores", .number(sysconf(Int32(_SC_NPROCESSORS_ONLN)))), ("open files", count(files.soft)),
      ("open files at most", count(files.hard)), ("line", .number(ListReader.lineBytesMax, "bytes")),
      ("error page", .number(RequestOptions.errorPageBytesMax, "bytes")),
    ]
  }

  private static var defaults: FactSheet.Entries {
    let (queue, timeouts, cache) = (
      NetworkQueue.Configuration(), NetworkRequest.Timeouts(), CacheConfiguration()
    )
    func seconds(_ time: Duration) -> FactSheet.Value { .number(Int(time.seconds), "seconds") }
    return [
      ("transfers", .number(queue.maximumConcurrent)),
      ("transfers per origin", .number(queue.maximumPerOrigin)),
      ("window", .number(FetchJob.window(for: .auto))), ("connect timeout", seconds(timeouts.connect)),
      ("head timeout", seconds(timeouts.headers)),
      ("stall timeout", timeouts.stall.map(seconds) ?? .none("none")),
      ("timeout", .number(RequestOptions.timeoutSeconds, "seconds")),
      ("retries", .number(RequestOptions.retriesByDefault)),
      ("decoded body", .number(Int(NetworkEngine.Configuration().limits.decodedBytesMax), "bytes")),
      ("cache size", .number(cache.bytesMax, "bytes")), ("cached body", .number(cache.bodyBytesMax, "bytes")),
      ("cache resident", .number(CachePlace.residentBytesMax, "bytes")),
    ]
  }

  private static func directories(_ environment: Environment, _ cache: String?) -> FactSheet.Entries {
    let temporary = Ledger.temporaryDirectory(environment)
    return [
      ("temporary", .text(temporary)),
      ("temporary free", .bytes(DoctorCheck.free(below: temporary), or: "unknown")),
      ("cache", .text(cache, or: "none: neither XDG_CACHE_HOME nor HOME is set")),
      ("cache file", .bytes(cache.flatMap(CacheFiles.bytes), or: "not there yet")),
      ("cache free", .bytes(cache.flatMap(DoctorCheck.free(below:)), or: "unknown")),
    ]
  }
}

extension FrozenPlace {
  /// The store of frozen requests: looked at first, so that a damaged one stays as it is.
  fileprivate func facts(_ environment: Environment) -> FactSheet.Entries {
    guard let directory = path(environment) else {
      return [("directory", .none("none: neither XDG_STATE_HOME nor HOME is set")), ("state", .none("none"))]
    }
    do { return [("directory", .text(directory))] + (try state(of: directory, environment)) } catch {
      return [
        ("directory", .text(directory)), ("state", .text((error as? StoreFailure)?.cause ?? "\(error)")),
      ]
    }
  }

  private func state(of directory: String, _ environment: Environment) throws -> FactSheet.Entries {
    guard try FrozenHold.isThere(in: directory) else { return [("state", .none("not there yet"))] }
    do throws(NetworkError) {
      if case .damaged(let why, _) = try FrozenStoreFinding.inspect(directory) {
        return [("state", .text("damaged (\(why)): the next request puts it aside"))]
      }
    } catch {
      guard let owner = StoreFailure.owner(error) else { throw StoreFailure.of(.frozen, directory, error) }
      return [("state", .text("in use")), ("owner", .text(owner))]
    }
    let hold = try FrozenHold(try FrozenSettings(self, environment), nil)
    defer { hold.close() }
    hold.flush()
    return [
      ("state", .text("in order")), ("owner", .none("none")),
      ("waiting", .number(hold.engine.frozenOperations.count)),
      ("dead letters", .number(hold.engine.deadLetters.count)),
    ]
  }
}
