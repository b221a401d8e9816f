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

extension NetworkRequest {
  /// The URL for people, secrets masked: for the tool's messages.
  package var urlMasked: String { Redaction.standard.url(url) }
}

extension NetworkError: CustomReflectable {
  /// The description and the answer: `dump` goes by it.
  public var customMirror: Mirror {
    Mirror(self, children: ["error": description, "response": response?.description ?? "none"])
  }
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

extension FrozenOperation: CustomReflectable {
  /// The description: `dump` goes by it.
  public var customMirror: Mirror { Mirror(self, children: ["request": description]) }
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
