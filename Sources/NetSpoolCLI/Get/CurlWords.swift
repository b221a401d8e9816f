import NetSpool

// `--curl`: the library tells the request as a curl command; here are curl's words for what the command line asks besides.

extension ExchangeArguments {
  /// - Parameters:
  ///   - number: which URL of the command line it is, from 0.
  ///   - omitted: the fields that must not be sent.
  func curlWords(_ number: Int, omitted: [String]) -> [String] {
    let fields = omitted.filter { $0.lowercased() != "user-agent" }.flatMap { ["--header", "\($0):"] }
    return fields + request.curlWords + connection.curlWords + cookies.curlWords + target.curlWords(number)
  }
}

/// An option's words; none without a value.
private func words(_ name: String, _ value: String?) -> [String] { value.map { ["--\(name)", $0] } ?? [] }

/// The names of the flags that are set.
private func flags(_ flags: KeyValuePairs<String, Bool>) -> [String] {
  flags.filter(\.value).map { "--\($0.key)" }
}

extension RequestOptions {
  /// Limits of time and retries that nobody named are our own, and left out.
  fileprivate var curlWords: [String] {
    flags(["compressed": compressed]) + words("max-time", timeout?.span.map(CurlNumber.seconds))
      + words("retry", retry.map { "\($0)" }) + words("retry-delay", retryDelay.map(CurlNumber.seconds))
      + words("retry-max-time", retryMaxTime?.span.map(CurlNumber.seconds))
      + flags(["retry-all-errors": retryAllErrors, "retry-connrefused": retryConnrefused])
      + words("max-filesize", maxFilesize.map { "\($0.bytes)" })
      + words("limit-rate", limitRate.map { "\($0.bytes)" })
  }
}

extension ConnectionOptions {
  fileprivate var curlWords: [String] {
    words("proxy", proxy) + words("proxy-user", proxyUser) + words("noproxy", noproxy)
      + flags(["insecure": insecure]) + words("cacert", cacert) + words("capath", capath)
      + resolve.flatMap { words("resolve", $0.text) } + words("unix-socket", unixSocket)
      + words("interface", interface) + flags(["proxy-basic": proxyBasic])
      + words("connect-timeout", connectTimeout.map(CurlNumber.seconds))
      + flags([
        "http1.1": http11, "http2": http2, "http2-prior-knowledge": http2PriorKnowledge, "location": location,
      ]) + words("max-redirs", maxRedirs == Self.redirects || !location ? nil : "\(maxRedirs)")
  }
}

extension CookieOptions {
  /// Without the cookies of the command line itself, which are a field of the request.
  fileprivate var curlWords: [String] {
    files.flatMap { words("cookie", $0) } + words("cookie-jar", cookieJar)
  }
}

extension TargetOptions {
  fileprivate func curlWords(_ number: Int) -> [String] {
    place(number)
      + flags([
        "remote-header-name": remoteHeaderName, "create-dirs": createDirs, "remote-time": remoteTime,
        "include": include, "fail": fail == true, "fail-with-body": failWithBody, "silent": silent,
        "show-error": showError, "verbose": verbose, "no-progress-meter": noProgressMeter,
        "progress-bar": progressBar, "no-buffer": noBuffer,
      ])
      + flags(["globoff": globoff, "no-clobber": noClobber, "remove-on-error": removeOnError])
      + words("etag-save", etagSave) + words("stderr", stderr)
      + words("output-dir", outputDir) + words("dump-header", dumpHeader) + words("write-out", writeOut)
  }

  private func place(_ number: Int) -> [String] {
    switch place(of: number) {
    case .path(let path)?: words("output", path) + start
    case .remoteName?: ["--remote-name"] + start
    case nil: []
    }
  }

  private var start: [String] {
    switch resumption {
    case .part?: words("continue-at", "-")
    case .byte(let byte)?: words("continue-at", "\(byte)")
    case nil: []
    }
  }
}

private enum CurlNumber {
  /// curl's times have no units.
  static func seconds(_ span: TimeSpan) -> String {
    let milliseconds = span.nanoseconds / 1_000_000
    let (whole, rest) = milliseconds.quotientAndRemainder(dividingBy: 1_000)
    return rest == 0 ? "\(whole)" : "\(whole).\(HumanText.padded(Int(rest), to: 3, with: "0"))"
  }
}
