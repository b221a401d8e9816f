extension ResultRecord {
  /// Appends the record as one line.
  func write(to json: inout JSONText) {
    json.beginObject()
    json.field("url", url)
    json.field("output", output)
    json.field("outcome", outcome.rawValue)
    json.field("status", status)
    json.field("bytes", bytes)
    json.field("source", source?.rawValue)
    json.field("error", error)
    json.field("reason", reason)
    json.field("attempts", attempts)
    json.field("sha256", sha256)
    if let timings { Self.write(timings, to: &json) }
    json.endObject()
    json.endLine()
  }

  private static func write(_ timings: FetchOutcome.Timings, to json: inout JSONText) {
    json.key("timings")
    json.beginObject()
    json.field("queue", timings.queue)
    json.field("dns", timings.dns)
    json.field("connect", timings.connect)
    json.field("tls", timings.tls)
    json.field("firstByte", timings.firstByte)
    json.field("total", timings.total)
    json.endObject()
  }

  /// Reads one line, keys in any order, unknown ones passed over. Nil when it is not a whole record.
  init?(line: ArraySlice<UInt8>) {
    var record = ResultRecord(url: "", outcome: .failed)
    var (hasURL, hasOutcome) = (false, false)
    var scanner = JSONScanner(line)
    let isWhole: Void? = try? scanner.wholeObject { key, value in
      if key == "url" { hasURL = true }
      if key == "outcome" { hasOutcome = true }
      try record.take(key, from: &value)
    }
    guard isWhole != nil, hasURL, hasOutcome else { return nil }
    self = record
  }

  private mutating func take(_ key: String, from value: inout JSONScanner) throws {
    switch key {
    case "url": url = try value.string()
    case "outcome": outcome = try Outcome(rawValue: value.string()) ?? { throw JSONScanner.Malformed() }()
    case "output": output = try value.string()
    case "status": status = Int(try value.integer())
    case "bytes": bytes = try value.integer()
    case "source": source = FetchOutcome.Source(rawValue: try value.string())
    case "error": error = try value.string()
    case "reason": reason = try value.string()
    case "attempts": attempts = Int(try value.integer())
    case "sha256": sha256 = try value.string()
    default: try value.skipValue()
    }
  }
}
