import Testing

@testable import NetSpool

/// Tue, 14 Nov 2023 22:13:20 GMT in milliseconds: when answers come in these tests.
let receipt: Int64 = 1_700_000_000_000

func fields(_ lines: [String]) -> Headers {
  var fields = Headers()
  for line in lines {
    let colon = line.firstIndex(of: ":") ?? line.endIndex
    let value = line[colon...].dropFirst().drop { $0 == " " }
    fields.append(name: line[..<colon], value: value)
  }
  return fields
}

func fields(_ lines: String...) -> Headers { fields(lines) }

/// A date field's value, so many seconds after receipt.
func date(_ offset: Int64 = 0) -> String { HTTPDate.format(receipt / 1000 + offset) }

func head(_ status: Int = 200, _ lines: [String]) -> ResponseHead {
  ResponseHead(version: .http11, status: status, headers: fields(lines))
}

/// What is stored of an answer that came at `receipt`, in no time.
func stored(
  _ lines: [String], status: Int = 200, request: [String] = [], policy: CachePolicy = .automatic,
  delay: Int64 = 0, rules: CacheRules = .standard
) -> StoredResponse? {
  let requestFields = fields(request)
  return StoreDecision.entry(
    StoreDecision.Exchange(
      request: CacheRequest(headers: requestFields, policy: policy),
      requestHeaders: requestFields, head: head(status, lines), requestedAt: receipt - delay,
      receivedAt: receipt, isComplete: true), rules: rules)
}

func request(
  _ lines: [String] = [], policy: CachePolicy = .automatic, lifetime: Double? = nil
) -> CacheRequest { CacheRequest(headers: fields(lines), policy: policy, lifetime: lifetime) }

/// The decision so many seconds after receipt.
func decision(_ stored: StoredResponse?, _ request: CacheRequest = request(), after seconds: Double)
  -> Verdict
{
  Verdict(CacheDecision.make(for: request, stored: stored, now: receipt + Int64(seconds * 1000)))
}

/// A decision without its conditions.
enum Verdict {
  case serve, serveAndRevalidate, revalidate, fetch, bypass, notCached

  init(_ decision: CacheDecision) {
    switch decision {
    case .serve: self = .serve
    case .serveAndRevalidate: self = .serveAndRevalidate
    case .revalidate: self = .revalidate
    case .fetch: self = .fetch
    case .bypass: self = .bypass
    case .notCached: self = .notCached
    }
  }
}

let sharedRules = {
  var rules = CacheRules.standard
  rules.isShared = true
  return rules
}()

let day: Int64 = 86_400
