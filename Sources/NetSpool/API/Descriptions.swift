// What values say of themselves to `print`, `dump` and loggers: never a secret. A type that holds a URL, fields or a
// body shows itself by its description alone, so that no reflection goes past it.

extension NetworkResponse: CustomStringConvertible, CustomReflectable {
  /// Status, version, bytes, source and URL, secrets masked: `200 HTTP/1.1, 512 bytes from network, https://example.org/`.
  public var description: String {
    "\(status) \(httpVersion), \(body.count) bytes from \(source.rawValue), \(Redaction.standard.url(finalURL))"
  }

  /// The description and the fields: `dump` goes by it.
  public var customMirror: Mirror {
    Mirror(self, children: ["response": description, "headers": headers.description])
  }
}

extension ResponseBytes: CustomStringConvertible, CustomReflectable {
  /// `512 bytes`: what they are is not shown.
  public var description: String { "\(count) bytes" }
  /// The description: `dump` goes by it.
  public var customMirror: Mirror { Mirror(self, children: ["body": description]) }
}

extension NetworkImage: CustomStringConvertible, CustomReflectable {
  /// `image/png, 64 x 48, 512 bytes`, and whether it is cut off.
  public var description: String {
    "\(format), \(pixelWidth) x \(pixelHeight), \(body.count) bytes" + (isComplete ? "" : ", cut off")
  }

  /// The description: `dump` goes by it.
  public var customMirror: Mirror { Mirror(self, children: ["image": description]) }
}

extension ResponseHead: CustomStringConvertible, CustomReflectable {
  /// `200 HTTP/1.1`.
  public var description: String { "\(status) \(httpVersion)" }

  /// The description and the fields, secrets masked: `dump` goes by it.
  public var customMirror: Mirror {
    Mirror(self, children: ["head": description, "headers": headers.description])
  }
}

extension PrefetchResult: CustomStringConvertible, CustomReflectable {
  /// The URL and how it ended, secrets masked.
  public var description: String {
    switch outcome {
    case .success(let response): "\(Redaction.standard.url(url)): \(response)"
    case .failure(let error): "\(Redaction.standard.url(url)): \(error)"
    }
  }

  /// The description: `dump` goes by it.
  public var customMirror: Mirror { Mirror(self, children: ["result": description]) }
}

extension NetworkRequest.Parameters: CustomStringConvertible, CustomReflectable {
  /// `tags=swift&token=•••`: the values of secret names masked.
  public var description: String {
    let shown = pairs.map { pair in
      let value = Redaction.isSecret(key: pair.name.utf8) ? Redaction.mask : Redaction.printable(pair.value)
      return "\(Redaction.printable(pair.name))=\(value)"
    }
    return shown.joined(separator: "&")
  }

  /// The description: `dump` goes by it.
  public var customMirror: Mirror { Mirror(self, children: ["parameters": description]) }
}

extension Multipart: CustomStringConvertible, CustomReflectable {
  /// `multipart of 3`: neither names nor contents.
  public var description: String { "multipart of \(parts.count)" }
  /// The description: `dump` goes by it.
  public var customMirror: Mirror { Mirror(self, children: ["multipart": description]) }
}

extension NetworkRequest.Body: CustomStringConvertible, CustomReflectable {
  /// Its kind and its length, a form with the values of secret names masked.
  public var description: String {
    switch self {
    case .none: "no body"
    case .bytes(let bytes, _): "\(bytes.count) bytes"
    case .form(let parameters): "form \(parameters)"
    case .json(let bytes): "\(bytes.count) bytes of JSON"
    case .multipart(let multipart): multipart.description
    case .file(let path, _): "file \(Redaction.printable(path))"
    case .stream: "stream"
    case .custom(let contentType, _): "encoded as \(Redaction.printable(contentType))"
    }
  }

  /// The description: `dump` goes by it.
  public var customMirror: Mirror { Mirror(self, children: ["body": description]) }
}

extension NetworkRequest {
  /// The URL for people, secrets masked: for the tool's messages.
  package var urlMasked: String { Redaction.standard.url(url) }
}

extension NetworkRequest.Headers {
  /// True when the value of a field is a secret: for archives.
  package static func isSecret(_ name: String) -> Bool { Redaction.standard.isSecret(header: name) }
}

extension NetworkOperation: CustomReflectable {
  /// The curl command and the state: `dump` goes by it.
  public var customMirror: Mirror {
    Mirror(self, children: ["operation": description, "state": state.rawValue])
  }
}

extension NetworkEngine: CustomStringConvertible, CustomReflectable {
  /// `NetworkEngine(example.org)`.
  public var description: String { "NetworkEngine(\(host ?? ""))" }

  /// The host and the settings: `dump` goes by it.
  public var customMirror: Mirror {
    Mirror(self, children: ["host": host as Any, "configuration": configuration])
  }
}

extension NetworkEngine.Configuration: CustomStringConvertible, CustomReflectable {
  /// `Configuration(User-Agent: a/1, X-Key: •••)`: the fields that are sent with every request, the values of secret ones masked.
  public var description: String {
    let redaction = Redaction(fields: FieldMeaning(secret: secretFields, open: openFields))
    let lines = headers.map { "\($0.name): \(redaction.header(name: $0.name, value: $0.value))" }
    return "Configuration(\(lines.joined(separator: ", ")))"
  }

  /// The description and the settings that hold no secrets: `dump` goes by it.
  public var customMirror: Mirror {
    Mirror(
      self,
      children: [
        "headers": description, "credentials": credentials as Any, "timeouts": timeouts, "retry": retry,
        "redirects": redirects, "tls": tls, "proxy": proxy as Any, "egress": egress, "resolve": resolve,
        "httpVersion": httpVersion, "cookies": cookies, "limits": limits,
      ])
  }
}

extension ThawedOutcome: CustomStringConvertible, CustomReflectable {
  /// Number, method, URL and how it ended, secrets masked.
  public var description: String {
    switch result {
    case .success(let response): "#\(id) \(method) \(urlMasked): \(response)"
    case .failure(let error): "#\(id) \(method) \(urlMasked): \(error)"
    }
  }

  /// The description: `dump` goes by it.
  public var customMirror: Mirror { Mirror(self, children: ["outcome": description]) }
}

/// The C libraries below, as they are loaded: for reports and support. They need not be those that the program
/// was built with.
public struct LibraryVersions: Sendable, Hashable {
  /// libcurl: `8.5.0` (curl_version_info(3)).
  public let curl: String
  /// The TLS library inside libcurl: `OpenSSL/3.0.17`; nil without one.
  public let tls: String?
  /// The HTTP/2 library inside libcurl: `nghttp2/1.52.0`; nil without one.
  public let http2: String?
  /// libuv: `1.44.2` (uv_version_string(3)).
  public let uv: String
  /// LMDB: `0.9.24`.
  public let lmdb: String
  /// zlib: `1.2.13`.
  public let zlib: String
  /// True when libcurl can answer NTLM (`CURL_VERSION_NTLM`); newer distributions build it without.
  public let hasNTLM: Bool
  /// The codings of bodies that are asked for and decoded: `gzip` and `deflate`, with the traits Brotli and Zstd also `br` and
  /// `zstd`.
  public var codings: [String] { ContentDecoder.codings }

  /// Asks the libraries; any thread.
  public static var loaded: LibraryVersions { ask() }
}
