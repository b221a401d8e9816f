import Glibc
import NetSpool

extension FactSheet {
  /// This program on this machine.
  static func doctor(_ environment: Environment, _ options: DoctorOptions) -> FactSheet {
    FactSheet(groups: [
      versions, network, limits, defaults, directories(environment, options.place.path(environment)),
      frozen(options.frozen, environment),
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
        ("interface", link?.interface.map { .text($0) } ?? .none("none")),
        (
          "link",
          link?.interface.map { _ in .text(link?.isCellular == true ? "cellular" : "local") } ?? .none("none")
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
        ("retries", .number(RequestOptions.retries, unit: "")),
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
        ("temporary free", freeBytes(temporary).map { .number($0, unit: "bytes") } ?? .none("unknown")),
        ("cache", cache.map { .text($0) } ?? .none("none: neither XDG_CACHE_HOME nor HOME is set")),
        (
          "cache file",
          cache.flatMap(CacheFiles.bytes).map { .number($0, unit: "bytes") } ?? .none("not there yet")
        ),
        ("cache free", cache.flatMap(freeBytesBelow).map { .number($0, unit: "bytes") } ?? .none("unknown")),
      ])
  }

  /// Of a folder that may not be there yet.
  private static func freeBytesBelow(_ path: String) -> Int? {
    var path = path[...]
    while FileStatus(path: String(path)) == nil, let slash = path.lastIndex(of: "/") { path = path[..<slash] }
    return freeBytes(path.isEmpty ? "/" : String(path))
  }

  private static func freeBytes(_ path: String) -> Int? {
    var status = statvfs()
    guard unsafe statvfs(path, &status) == 0 else { return nil }
    return Int(
      clamping: UInt64(status.f_bavail).multipliedReportingOverflow(by: UInt64(status.f_frsize)).partialValue)
  }
}
