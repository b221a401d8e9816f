import NetSpoolTesting
import Synchronization
import Testing

@testable import NetSpool

/// Plays rows on one engine, each at a path of its own.
final class CacheStory: Sendable {
  private let engine: NetworkEngine
  private let origin: ScriptedOrigin
  private let clock: WallClockHand
  private let now = Mutex(Answer())

  init(_ engine: NetworkEngine, _ origin: ScriptedOrigin, _ clock: WallClockHand) {
    (self.engine, self.origin, self.clock) = (engine, origin, clock)
    origin.fallback { [weak self] _ in self?.now.withLock { $0 } ?? .status(500) }
  }

  func play(_ row: CacheRow, at path: String) async {
    var stored = ""
    for (index, visit) in row.visits.enumerated() {
      let place = "\(row.rule) (\(row.source)), visit \(index + 1)"
      clock.advance(seconds: visit.after)
      let own = visit.body ?? "body \(index + 1)"
      now.withLock { $0 = answer(visit, own) }
      let before = origin.requestCount
      let result = await engine.end(of: operation(visit, path))
      let asked = Array(origin.requests.suffix(origin.requestCount - before))
      check(visit, asked: asked, place)
      let held = visit.bodyOf.map { row.visits[$0 - 1].body ?? "body \($0)" } ?? stored
      check(visit, result, own: own, stored: held, place)
      if visit.sees == .network, visit.method == "GET", visit.framing.isWhole { stored = own }
    }
  }

  private func operation(_ visit: Visit, _ path: String) -> NetworkOperation {
    let operation = engine.operation(
      url: origin.url(path + visit.path), method: NetworkRequest.Method(visit.method))
    operation.cachePolicy = visit.policy
    // The connection is an old one, which would be tried again.
    if visit.framing == .hangUp { operation.retry = .none }
    for field in visit.with.map(split) { operation.addHeader(field.name, field.value) }
    return operation
  }

  private func answer(_ visit: Visit, _ body: String) -> Answer {
    var answer = Answer(status: visit.status, body: visit.status == 304 ? .none : .text(body))
    for field in visit.answer.map(split) { answer = answer.header(field.name, field.value) }
    switch visit.framing {
    case .length: return answer
    case .chunks: return answer.framed(.chunked(size: 3))
    case .untilClose: return answer.framed(.untilClose)
    case .cutOff: return answer.closeAfter(2)
    case .hangUp: return .hangUp
    }
  }

  // MARK: Checking

  private func check(_ visit: Visit, asked: [RecordedRequest], _ place: String) {
    let wanted = visit.isAsked || [.network, .revalidated, .stale].contains(visit.sees) ? 1 : 0
    #expect(asked.count == wanted, "\(place): requests at the origin")
    guard let request = asked.first else { return }
    for field in visit.sends { expect(field, in: request.header(split(field).name), "\(place): the request") }
  }

  private func check(_ visit: Visit, _ result: Ending, own: String, stored: String, _ place: String) {
    if case .error(let code) = visit.sees {
      #expect(result.code == code, "\(place): the error")
      return
    }
    guard let response = result.response ?? result.error?.response else {
      Issue.record("\(place): no answer but \(result)")
      return
    }
    let isOwn = visit.sees == .network
    #expect(response.source == visit.sees.source, "\(place): the source")
    for field in visit.shows {
      expect(field, in: response.headers[split(field).name], "\(place): the response")
    }
    if let shown = visit.shown {
      #expect(response.status == shown.status, "\(place): the status")
      #expect((response.text ?? "") == shown.body, "\(place): the body")
      return
    }
    let hasBody = visit.method != "HEAD" && response.status != 204
    #expect((response.text ?? "") == (hasBody ? (isOwn ? own : stored) : ""), "\(place): the body")
    if let age = visit.age { #expect(response.headers["Age"] == "\(age)", "\(place): Age") }
    #expect((response.age == nil) == isOwn, "\(place): only what is stored has an age")
  }

  private func expect(_ field: String, in value: String?, _ place: String) {
    if field.hasPrefix("!") {
      #expect(value == nil, "\(place) has no \(field.dropFirst())")
    } else {
      #expect(value == split(field).value, "\(place) has \(field)")
    }
  }

  // MARK: Fields

  private func split(_ field: String) -> (name: String, value: String) {
    let bare = field.hasPrefix("!") ? field.dropFirst() : field[...]
    guard let colon = bare.firstIndex(of: ":") else { return (String(bare), "") }
    let value = bare[bare.index(after: colon)...].drop { $0 == " " }
    return (String(bare[..<colon]), filled(String(value)))
  }

  /// With dates and the origin in place of what stands in braces.
  private func filled(_ value: String) -> String {
    guard let open = value.firstIndex(of: "{"), let close = value.firstIndex(of: "}") else { return value }
    let name = value[value.index(after: open)..<close]
    let text = Int64(name).map { HTTPDate.format(clock.now / 1000 + $0) } ?? origin.url("")
    return value[..<open] + text + filled(String(value[value.index(after: close)...]))
  }
}

extension Visit.Outcome {
  fileprivate var source: NetworkResponse.Source {
    switch self {
    case .network, .error: .network
    case .cache, .stale: .cache
    case .revalidated: .revalidated
    }
  }
}
