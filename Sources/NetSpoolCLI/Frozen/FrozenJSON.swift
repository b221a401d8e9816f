import NetSpool

/// Frozen requests for other programs: one object per line, secrets in URLs masked, times in seconds since 1970.
enum FrozenJSON {
  static func ticket(_ ticket: FrozenTicket, _ request: NetworkRequest) -> [UInt8] {
    line { json in
      json.field("id", ticket.id)
      json.field("idempotencyKey", ticket.idempotencyKey)
      json.field("isDuplicate", ticket.isDuplicate)
      json.field("method", "\(request.method)")
      json.field("url", URLText.masked(request.url))
    }
  }

  static func waiting(_ request: FrozenOperation) -> [UInt8] {
    line { json in
      json.field("id", request.id)
      json.field("state", "waiting")
      write(request, to: &json)
      json.field("notBefore", request.notBefore.map { Int($0) })
      json.field("expiresAt", Int(request.expiresAt))
    }
  }

  static func dead(_ letter: FrozenDeadLetter) -> [UInt8] {
    line { json in
      json.field("id", letter.id)
      json.field("state", "dead")
      json.field("error", letter.error.code.description)
      json.field("reason", letter.error.reason)
      json.field("isOutcomeUnknown", letter.isOutcomeUnknown)
      json.field("diedAt", Int(letter.diedAt))
      if let request = letter.operation { write(request, to: &json) }
    }
  }

  static func outcome(_ outcome: ThawedOutcome) -> [UInt8] {
    line { json in
      json.field("id", outcome.id)
      switch outcome.result {
      case .success(let response):
        json.field("state", "sent")
        json.field("status", response.status)
      case .failure(let error):
        json.field("state", "dead")
        json.field("error", error.code.description)
        json.field("reason", error.reason)
      }
      json.field("method", "\(outcome.method)")
      json.field("url", outcome.urlMasked)
      json.field("idempotencyKey", outcome.idempotencyKey)
      json.field("tag", outcome.tag)
      json.field("attempts", outcome.attempts)
      json.field("mayBeRepeated", outcome.mayBeRepeated)
    }
  }

  private static func write(_ request: FrozenOperation, to json: inout JSONText) {
    json.field("method", "\(request.method)")
    json.field("url", request.urlMasked)
    json.field("idempotencyKey", request.idempotencyKey)
    json.field("lane", request.lane)
    json.field("tag", request.tag)
    json.field("bytes", request.bodyBytes)
    json.field("attempts", request.attempts)
    json.field("createdAt", Int(request.createdAt))
    json.field("lastError", request.lastError?.description)
    json.field("lastStatus", request.lastStatus)
    if !request.secretFields.isEmpty {
      json.field("needs", request.secretFields.joined(separator: ","))
    }
  }

  private static func line(_ body: (inout JSONText) -> Void) -> [UInt8] {
    var json = JSONText()
    json.beginObject()
    body(&json)
    json.endObject()
    json.endLine()
    return json.bytes
  }
}
