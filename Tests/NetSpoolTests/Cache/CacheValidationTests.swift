import Testing

@testable import NetSpool

/// 304 (RFC 9111 sections 3.2, 4.3.3, 4.3.4) and HEAD (section 4.3.5).
struct CacheValidationTests {
  private static let later = receipt + 100_000

  private func updated(_ held: StoredResponse, _ lines: [String]) -> NotModified {
    held.notModified(head(304, lines), requestedAt: Self.later - 10, receivedAt: Self.later, rules: .standard)
  }

  private func name(_ result: NotModified) -> String {
    switch result {
    case .updated: "updated"
    case .kept: "kept"
    case .dropped: "dropped"
    case .mismatched: "mismatched"
    }
  }

  static let modified = "Last-Modified: \(date(-1000))"
  static let other = "Last-Modified: \(date(-999))"

  /// What is stored, the 304, and what comes of it.
  static let selections: [([String], [String], String)] = [
    (["ETag: \"a\""], ["ETag: \"a\""], "updated"), (["ETag: \"a\""], ["ETag: \"b\""], "mismatched"),
    (["ETag: \"a\""], [], "kept"), (["ETag: \"a\""], ["ETag: W/\"a\""], "updated"),
    (["ETag: W/\"a\""], ["ETag: W/\"a\""], "updated"), (["ETag: W/\"a\""], ["ETag: \"a\""], "updated"),
    (["ETag: W/\"a\""], ["ETag: W/\"b\""], "mismatched"), (["ETag: \"a\""], ["ETag: \"A\""], "mismatched"),
    (["ETag: \"a\"", modified], ["ETag: \"a\"", other], "updated"),
    (["ETag: \"a\"", modified], ["ETag: \"b\"", modified], "mismatched"),
    (["ETag: \"a\"", modified], [modified], "updated"), (["ETag: \"a\"", modified], [other], "mismatched"),
    ([modified], [modified], "updated"), ([modified], [other], "mismatched"), ([modified], [], "kept"),
    ([modified], ["ETag: \"a\"", modified], "mismatched"),
    ([modified], ["ETag: W/\"a\"", modified], "updated"),
    ([], [], "updated"), ([], ["ETag: \"a\""], "mismatched"),
    (["ETag: \"a\""], ["ETag: \"a\"", "Cache-Control: no-store"], "dropped"),
    (["ETag: \"a\""], ["ETag: \"a\"", "Vary: *"], "dropped"),
    (["ETag: \"a\""], ["ETag: \"a\"", "Vary: Accept"], "dropped"),
    (["ETag: \"a\"", "Vary: accept"], ["ETag: \"a\"", "Vary: Accept"], "updated"),
    (["ETag: \"a\""], ["ETag: \"a\"", "Set-Cookie: x"], "updated"),
  ]

  @Test(arguments: selections)
  func `a 304 is about the stored answer`(_ lines: [String], _ new: [String], expected: String) throws {
    let held = try #require(stored(lines + ["Cache-Control: max-age=1"]))
    #expect(name(updated(held, new)) == expected)
  }

  /// Section 3.2: each field of the 304 replaces all stored lines of its name, but not what describes the
  /// bytes; the others stay; the body's numbers stay.
  @Test func `fields are updated`() throws {
    var held = try #require(
      stored([
        "Cache-Control: max-age=1", "ETag: \"a\"", "Content-Length: 5", "Content-Encoding: gzip", "X-A: 1",
        "X-A: 2",
        "X-B: 1", "Content-Type: text/plain", "Date: \(date())", "Age: 7",
      ]))
    held.bodyBytes = 5
    let result = updated(
      held,
      [
        "Cache-Control: max-age=3600", "ETag: \"a\"", "Content-Length: 10", "Content-Encoding: br",
        "Content-Range: x", "x-a: 3", "Content-Type: text/html", "Date: \(date(100))", "Connection: X-C",
        "X-C: 1",
        "Set-Cookie: a=b", "Keep-Alive: 1", "X-D: 4",
      ])
    guard case .updated(let new) = result else {
      Issue.record("\(result)")
      return
    }
    #expect(
      new.headers
        == fields(
          "Content-Length: 5", "Content-Encoding: gzip", "X-B: 1", "Cache-Control: max-age=3600",
          "ETag: \"a\"",
          "x-a: 3", "Content-Type: text/html", "Date: \(date(100))", "Set-Cookie: a=b", "X-D: 4"))
    #expect(new.bodyBytes == 5 && new.status == 200)
    #expect(new.facts.lifetime == 3600 && new.age(at: Self.later) == 0)
    #expect(decision(new, after: 100 + 3599) == .serve && decision(new, after: 100 + 3600) == .revalidate)
  }

  /// Section 5.2.2.4: what `no-cache="…"` names is kept back until a 304 has come, and then again.
  @Test func `hidden fields come back`() throws {
    let held = try #require(
      stored(["Cache-Control: max-age=1, no-cache=\"X-A\"", "ETag: \"a\"", "X-A: 1", "X-B: 1"]))
    #expect(!held.servedHeaders(at: receipt).contains("x-a"))
    guard case .updated(var new) = updated(held, ["ETag: \"a\"", "X-B: 2"]) else {
      Issue.record("not updated")
      return
    }
    #expect(!new.servedHeaders(at: Self.later).contains("x-a"))
    let served = new.takeServedHeaders(at: Self.later, isConfirmed: true)
    #expect(served.all("x-a") == ["1"] && served.all("x-b") == ["2"])
    guard case .updated(let open) = updated(held, ["ETag: \"a\"", "Cache-Control: max-age=1"]) else {
      Issue.record("not updated")
      return
    }
    #expect(open.servedHeaders(at: Self.later).all("x-a") == ["1"])
  }

  /// A 304 starts a new age: the stored Age and Date are those of the old answer.
  @Test func `age begins anew`() throws {
    let held = try #require(
      stored(["Cache-Control: max-age=50", "ETag: \"a\"", "Age: 49", "Date: \(date())"]))
    guard case .updated(let plain) = updated(held, ["ETag: \"a\""]),
      case .updated(let aged) = updated(held, ["ETag: \"a\"", "Age: 20"])
    else {
      Issue.record("not updated")
      return
    }
    #expect(plain.age(at: Self.later) == 0 && plain.isFresh(at: Self.later + 49_989))
    #expect(plain.headers.all("date") == [date(100)])
    #expect(aged.age(at: Self.later) == 20 && !aged.isFresh(at: Self.later + 30_000))
  }

  /// The stored bytes were not compared, so their weak tag stays weak.
  @Test func `a weak tag stays weak`() throws {
    let held = try #require(stored(["Cache-Control: max-age=1", "ETag: W/\"a\""]))
    guard case .updated(let new) = updated(held, ["ETag: \"a\"", "Cache-Control: max-age=60"]) else {
      Issue.record("not updated")
      return
    }
    #expect(new.headers.all("etag") == ["W/\"a\""] && new.facts.lifetime == 60)
  }

  @Test func `a shared cache drops what became private`() throws {
    let held = try #require(stored(["Cache-Control: max-age=1", "ETag: \"a\""], rules: sharedRules))
    let result = held.notModified(
      head(304, ["ETag: \"a\"", "Cache-Control: private"]), requestedAt: Self.later, receivedAt: Self.later,
      rules: sharedRules)
    #expect(result == .dropped)
  }

  /// The answer to HEAD, and what comes of what is stored.
  static let heads: [(Int, [String], String)] = [
    (200, ["ETag: \"a\"", modified, "Content-Length: 5", "X-A: 2"], "updated"), (200, ["X-A: 2"], "updated"),
    (200, ["ETag: \"b\"", "X-A: 2"], "outdated"), (200, [other, "X-A: 2"], "outdated"),
    (200, ["Content-Length: 6"], "outdated"), (200, ["Cache-Control: no-store"], "outdated"),
    (200, ["ETag: \"a\"", "Content-Length: 6"], "outdated"), (410, ["ETag: \"a\"", "X-A: 2"], "outdated"),
    (404, [], "outdated"), (304, ["ETag: \"a\"", "X-A: 2"], "unrelated"), (500, [], "unrelated"),
  ]

  @Test(arguments: heads)
  func `a head answer updates`(_ status: Int, _ lines: [String], expected: String) throws {
    let held = try #require(
      stored(["Cache-Control: max-age=1", "ETag: \"a\"", Self.modified, "Content-Length: 5", "X-A: 1"]))
    let result = held.updated(
      byHead: head(status, lines + ["Cache-Control: max-age=1000"]), requestedAt: Self.later,
      receivedAt: Self.later, rules: .standard)
    switch result {
    case .updated(let new):
      #expect(
        expected == "updated" && new.headers.all("x-a") == ["2"] && new.isFresh(at: Self.later + 999_000))
      #expect(new.headers.all("content-length") == ["5"])
    case .outdated: #expect(expected == "outdated")
    case .unrelated: #expect(expected == "unrelated")
    }
  }

  /// Stored in chunks, so without Content-Length: the validators must agree then.
  @Test func `a length needs another`() throws {
    let held = try #require(stored(["Cache-Control: max-age=1", "ETag: \"a\""]))
    func update(_ lines: [String]) -> HeadUpdate {
      held.updated(
        byHead: head(200, lines), requestedAt: Self.later, receivedAt: Self.later, rules: .standard)
    }
    #expect(update(["Content-Length: 5"]) == .outdated)
    #expect(update(["Content-Length: 5", "ETag: \"a\""]) != .outdated)
  }

  /// Section 4.4.
  @Test func `unsafe methods invalidate`() throws {
    for method in [Method.post, .put, .patch, .delete, Method("M-SEARCH")] {
      for (status, expected) in [
        (200, true), (204, true), (303, true), (399, true), (400, false), (500, false), (199, false),
      ] {
        #expect(Invalidation.applies(method: method, status: status) == expected)
      }
    }
    for method in [Method.get, .head, .options, .trace] {
      #expect(!Invalidation.applies(method: method, status: 200))
    }
    #expect(
      Invalidation.references(fields("Content-Location: /b", "Location: /a", "Location: /c")) == ["/a", "/b"])
    let target = URLPieces(scheme: "https", host: "a", port: 443, pathAndQuery: "/x")
    #expect(
      Invalidation.isTarget(URLPieces(scheme: "HTTPS", host: "A", port: 443, pathAndQuery: "/y"), of: target))
    for (scheme, host, port) in [("http", "a", 443), ("https", "b", 443), ("https", "a", 444)] {
      let other = URLPieces(scheme: scheme, host: host, port: port, pathAndQuery: "/x")
      #expect(!Invalidation.isTarget(other, of: target))
    }
  }
}
