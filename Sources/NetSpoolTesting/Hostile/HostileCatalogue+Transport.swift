extension HostileCatalogue {
  private static let hello = Answer.text("hello")

  /// What the connection does, whatever is sent on it.
  static let transport: [HostileBehaviour] = [
    .plain(
      .transport, "slow", "the body drips, a byte every 0.3 seconds",
      .pattern(1_000).paced(.slices(of: 1, every: .milliseconds(300)), bodyOnly: true)
    ).endless(),
    .plain(.transport, "sliced", "every byte in a write of its own: allowed", .pattern(300).slice(1)),
    .plain(.transport, "stall_request", "no answer, the connection stays open", .noAnswer).endless(),
    .plain(
      .transport, "stall_head", "half a head, then nothing more", hello.fault(.stall, at: .head(20))
    ).endless(),
    .plain(.transport, "stall_body", "half a body, then nothing more", .pattern(1_000).stallAfter(500))
      .endless(),
    .plain(.transport, "reset_request", "reset instead of an answer", hello.fault(.reset, at: .requestRead)),
    .plain(.transport, "reset_head", "reset inside the head", hello.fault(.reset, at: .head(20))),
    .plain(.transport, "reset_body", "reset inside the body", .pattern(100_000).resetAfter(50_000)),
    .plain(.transport, "close_body", "closed inside the body", .pattern(100_000).closeAfter(50_000)),
    .plain(
      .transport, "until_close", "a body without length, ended by the connection's end: allowed",
      .pattern(10_000).framed(.untilClose)),
    .plain(
      .transport, "keepalive_lie", "closed behind an answer that did not say so",
      hello.fault(.close, at: .body(5))),
    HostileBehaviour(.transport, "body_endless", "a body without length and without end") { _ in
      .raw([
        .text("HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n"), .repeating(BodyPattern.block, times: nil),
      ])
    }.endless(),
  ]
}
