import Glibc
import NetSpool

/// What `doctor` thinks of what it found: each line is ok, a warning, or bad, with what to do.
struct DoctorCheck: Equatable, Sendable {
  enum Verdict: String, Sendable { case ok, warn, bad }

  let name: String
  let verdict: Verdict
  let text: String

  private static func ok(_ name: String, _ text: String) -> Self {
    Self(name: name, verdict: .ok, text: text)
  }
  private static func warn(_ name: String, _ text: String) -> Self {
    Self(name: name, verdict: .warn, text: text)
  }
  private static func bad(_ name: String, _ text: String) -> Self {
    Self(name: name, verdict: .bad, text: text)
  }
}

extension DoctorCheck {
  static func all(_ environment: Environment, cache: String?, frozen: String?) -> [DoctorCheck] {
    let libraries = LibraryVersions.loaded
    let temporary = Ledger.temporaryDirectory(environment)
    return [
      tls(libraries), http2(libraries), curl(libraries), ntlm(libraries), codings(libraries.codings), names,
      files(FileLimit.current), routes(NetworkEngine.linkNow?.families), authorities(environment),
      proxy(environment),
      configuration(environment), disk("temporary folder", temporary, DiskRoom.free(below: temporary)),
    ]
      + [("cache", cache), ("frozen requests", frozen)].compactMap { name, path in
        path.map { disk(name, $0, DiskRoom.free(below: $0)) }
      }
  }

  static func tls(_ libraries: LibraryVersions) -> DoctorCheck {
    libraries.tls.map { ok("https", $0) }
      ?? bad("https", "libcurl has no TLS: install libcurl4 of the distribution")
  }

  static func http2(_ libraries: LibraryVersions) -> DoctorCheck {
    libraries.http2.map { ok("HTTP/2", $0) }
      ?? warn("HTTP/2", "libcurl has none: every request needs its own turn")
  }

  /// The known faults of versions: `Quirks`.
  static func curl(_ libraries: LibraryVersions) -> DoctorCheck {
    let numbers = libraries.curl.split(separator: ".").compactMap { Int($0) }
    guard let major = numbers.first, major < 8 else { return ok("libcurl", libraries.curl) }
    return warn(
      "libcurl",
      "\(libraries.curl) takes a body without length that TLS cuts off for whole; 8.x notices. Use --checksum or "
        + "sha256= where it matters")
  }

  static func ntlm(_ libraries: LibraryVersions) -> DoctorCheck {
    libraries.hasNTLM
      ? ok("NTLM", "--ntlm can answer")
      : warn(
        "NTLM", "this libcurl has none: --ntlm fails; where a server asks for it, another libcurl is needed")
  }

  static func codings(_ known: [String]) -> DoctorCheck {
    let missing = [("br", "Brotli"), ("zstd", "Zstd")].filter { !known.contains($0.0) }.map(\.1)
    let traits = missing.isEmpty ? "" : "; more with the traits \(missing.joined(separator: " and "))"
    return ok("compression", known.joined(separator: ", ") + traits)
  }

  /// The library looks for it at the first host that needs it.
  static var names: DoctorCheck {
    let library = "libidn2.so.0"
    return unsafe dlopen(library, RTLD_LAZY | RTLD_LOCAL) == nil
      ? warn("hosts in Unicode", "\(library) is not there, so they are refused: install libidn2-0")
      : ok("hosts in Unicode", library)
  }

  static func files(_ limit: (soft: UInt, hard: UInt)) -> DoctorCheck {
    let name = "open files"
    if limit.soft >= 4_096 { return ok(name, HumanText.count(Int(clamping: limit.soft))) }
    let text =
      "\(limit.soft): too few for many transfers at once; 'ulimit -Hn 65536' or LimitNOFILE= raises it"
    return limit.soft < 256 ? bad(name, text) : warn(name, text)
  }

  static func routes(_ families: [String]?) -> DoctorCheck {
    guard let families else { return ok("network", "not known: netlink is not permitted here") }
    if families.isEmpty { return warn("network", "no route to other machines: look at 'ip route'") }
    return ok("network", families.joined(separator: ", "))
  }

  static func authorities(_ environment: Environment) -> DoctorCheck {
    let name = "authorities"
    for variable in ["CURL_CA_BUNDLE", "SSL_CERT_FILE", "SSL_CERT_DIR"] {
      guard let path = environment[variable] else { continue }
      let isThere = unsafe access(path, R_OK) == 0
      return isThere
        ? ok(name, "\(path), from \(variable)") : bad(name, "\(variable) names \(path), which cannot be read")
    }
    let usual = [
      "/etc/ssl/certs/ca-certificates.crt", "/etc/pki/tls/certs/ca-bundle.crt", "/etc/ssl/cert.pem",
    ]
    if let path = usual.first(where: { FileFacts(path: $0) != nil }) { return ok(name, path) }
    return warn(name, "no bundle at the usual places: install ca-certificates, or name one by SSL_CERT_FILE")
  }

  static func proxy(_ environment: Environment) -> DoctorCheck {
    let name = "proxy"
    let variables = ["http_proxy", "https_proxy", "HTTPS_PROXY", "all_proxy", "ALL_PROXY"]
    let set = variables.compactMap { variable in environment[variable].map { (variable, $0) } }
    for (variable, value) in set {
      let text = ProxyText.whole(value)
      let schemes = ["http://", "https://", "socks5h://"]
      guard schemes.contains(where: text.hasPrefix) else {
        return bad(name, "\(variable) names a kind of proxy that is not known: http, https and socks5h are")
      }
    }
    if environment["HTTP_PROXY"] != nil, environment["http_proxy"] == nil {
      return warn(name, "HTTP_PROXY is not read, as in curl: set http_proxy")
    }
    if set.isEmpty { return ok(name, "none") }
    return ok(name, set.map { "\($0.0) \(URLText.masked(ProxyText.whole($0.1)))" }.joined(separator: ", "))
  }

  static func configuration(_ environment: Environment) -> DoctorCheck {
    let name = "configuration"
    guard let path = ConfigFile.path(environment), FileFacts(path: path) != nil else {
      return ok(name, "no file")
    }
    do {
      for command in OptionTable.commands { _ = try ConfigFile.completed([command], environment) }
      return ok(name, path)
    } catch { return bad(name, "\(error)") }
  }

  static func disk(_ name: String, _ path: String, _ free: Int?) -> DoctorCheck {
    guard let free else { return bad(name, "\(path) cannot be looked at") }
    let text = "\(HumanText.bytes(Int64(free))) free in \(path)"
    if free < 64 << 20 { return bad(name, "\(text): too little to work") }
    return free < 1 << 30 ? warn(name, "\(text): a long job may fill it") : ok(name, text)
  }
}

enum DiskRoom {
  /// Of a folder that may not be there yet; nil when the system does not say.
  static func free(below path: String) -> Int? {
    var path = path[...]
    while FileFacts(path: String(path)) == nil, let slash = path.lastIndex(of: "/") { path = path[..<slash] }
    var status = statvfs()
    guard unsafe statvfs(path.isEmpty ? "/" : String(path), &status) == 0 else { return nil }
    return Int(clamping: UInt64(status.f_bavail) &* UInt64(status.f_frsize))
  }
}
