import Glibc
import NetSpool

/// What `doctor` thinks of what it found: each line is ok, a warning, or bad, with what to do.
enum DoctorCheck {
  enum Verdict: String, Sendable { case ok, warn, bad }
  typealias Finding = (verdict: Verdict, text: String)
  typealias Named = (name: String, finding: Finding)

  static func all(_ environment: Environment, cache: String?, frozen: String?) -> [Named] {
    let libraries = LibraryVersions.loaded
    var checks: [Named] = [
      ("https", tls(libraries)), ("HTTP/2", http2(libraries)), ("libcurl", curl(libraries)),
      ("NTLM", ntlm(libraries)), ("compression", codings(libraries.codings)), ("hosts in Unicode", names),
      ("open files", files(FileLimit.current)), ("network", routes(NetworkEngine.linkNow?.families)),
      ("authorities", authorities(environment)), ("proxy", proxy(environment)),
      ("configuration", configuration(environment)),
    ]
    let folders: [(String, String?)] = [
      ("temporary folder", Ledger.temporaryDirectory(environment)), ("cache", cache),
      ("frozen requests", frozen),
    ]
    for case (let name, let path?) in folders { checks.append((name, disk(path, free(below: path)))) }
    return checks
  }

  static func tls(_ libraries: LibraryVersions) -> Finding {
    if let tls = libraries.tls { return (.ok, tls) }
    return (.bad, "libcurl has no TLS: install libcurl4 of the distribution")
  }

  static func http2(_ libraries: LibraryVersions) -> Finding {
    if let http2 = libraries.http2 { return (.ok, http2) }
    return (.warn, "libcurl has none: every request needs its own turn")
  }

  /// The known faults of versions: `Quirks`.
  static func curl(_ libraries: LibraryVersions) -> Finding {
    let numbers = libraries.curl.split(separator: ".").compactMap { Int($0) }
    guard let major = numbers.first, major < 8 else { return (.ok, libraries.curl) }
    let text =
      "\(libraries.curl) takes a body without length that TLS cuts off for whole; 8.x notices. Use --checksum or "
      + "sha256= where it matters"
    return (.warn, text)
  }

  static func ntlm(_ libraries: LibraryVersions) -> Finding {
    if libraries.hasNTLM { return (.ok, "--ntlm can answer") }
    return (
      .warn, "this libcurl has none: --ntlm fails; where a server asks for it, another libcurl is needed"
    )
  }

  static func codings(_ known: [String]) -> Finding {
    let missing = [("br", "Brotli"), ("zstd", "Zstd")].filter { !known.contains($0.0) }.map(\.1)
    let traits = missing.isEmpty ? "" : "; more with the traits \(missing.joined(separator: " and "))"
    return (.ok, known.joined(separator: ", ") + traits)
  }

  /// The library looks for it at the first host that needs it.
  static var names: Finding {
    let library = "libidn2.so.0"
    return unsafe dlopen(library, RTLD_LAZY | RTLD_LOCAL) == nil
      ? (.warn, "\(library) is not there, so they are refused: install libidn2-0") : (.ok, library)
  }

  static func files(_ limit: (soft: UInt, hard: UInt)) -> Finding {
    if limit.soft >= 4_096 { return (.ok, HumanText.count(Int(clamping: limit.soft))) }
    let text =
      "\(limit.soft): too few for many transfers at once; 'ulimit -Hn 65536' or LimitNOFILE= raises it"
    return (limit.soft < 256 ? .bad : .warn, text)
  }

  static func routes(_ families: [String]?) -> Finding {
    guard let families else { return (.ok, "not known: netlink is not permitted here") }
    if families.isEmpty { return (.warn, "no route to other machines: look at 'ip route'") }
    return (.ok, families.joined(separator: ", "))
  }

  static func authorities(_ environment: Environment) -> Finding {
    for variable in ["CURL_CA_BUNDLE", "SSL_CERT_FILE", "SSL_CERT_DIR"] {
      guard let path = environment[variable] else { continue }
      if unsafe access(path, R_OK) == 0 { return (.ok, "\(path), from \(variable)") }
      return (.bad, "\(variable) names \(path), which cannot be read")
    }
    let usual = [
      "/etc/ssl/certs/ca-certificates.crt", "/etc/pki/tls/certs/ca-bundle.crt", "/etc/ssl/cert.pem",
    ]
    if let path = usual.first(where: { FileFacts(path: $0) != nil }) { return (.ok, path) }
    return (.warn, "no bundle at the usual places: install ca-certificates, or name one by SSL_CERT_FILE")
  }

  static func proxy(_ environment: Environment) -> Finding {
    let variables = ["http_proxy", "https_proxy", "HTTPS_PROXY", "all_proxy", "ALL_PROXY"]
    let set = variables.compactMap { variable in
      environment[variable].map { (variable, ConnectionOptions.wholeProxy($0)) }
    }
    for (variable, text) in set {
      let schemes = ["http://", "https://", "socks5h://"]
      guard schemes.contains(where: text.hasPrefix) else {
        return (.bad, "\(variable) names a kind of proxy that is not known: http, https and socks5h are")
      }
    }
    if environment["HTTP_PROXY"] != nil, environment["http_proxy"] == nil {
      return (.warn, "HTTP_PROXY is not read, as in curl: set http_proxy")
    }
    if set.isEmpty { return (.ok, "none") }
    return (.ok, set.map { "\($0.0) \(URLText.masked($0.1))" }.joined(separator: ", "))
  }

  static func configuration(_ environment: Environment) -> Finding {
    guard let path = ConfigFile.path(environment), FileFacts(path: path) != nil else {
      return (.ok, "no file")
    }
    do {
      for command in OptionTable.commands { _ = try ConfigFile.completed([command], environment) }
      return (.ok, path)
    } catch { return (.bad, "\(error)") }
  }

  static func disk(_ path: String, _ free: Int?) -> Finding {
    guard let free else { return (.bad, "\(path) cannot be looked at") }
    let text = "\(HumanText.bytes(Int64(free))) free in \(path)"
    if free < 64 << 20 { return (.bad, "\(text): too little to work") }
    return free < 1 << 30 ? (.warn, "\(text): a long job may fill it") : (.ok, text)
  }

  /// Room on the disk of a folder that may not be there yet; nil when the system does not say.
  static func free(below path: String) -> Int? {
    var path = path[...]
    while FileFacts(path: String(path)) == nil, let slash = path.lastIndex(of: "/") { path = path[..<slash] }
    var status = statvfs()
    guard unsafe statvfs(path.isEmpty ? "/" : String(path), &status) == 0 else { return nil }
    return Int(clamping: UInt64(status.f_bavail) &* UInt64(status.f_frsize))
  }
}
