import Testing

@testable import NetSpool

/// What a user sees of one way to break HTTP/2.
struct HTTP2Expectation: Sendable, CustomTestStringConvertible {
  let name: String
  let ending: HostileEnding
  /// How many requests the server sees.
  var requests = 1...1
  /// An error only because of a limit of time.
  var isLate = false
  var hasBody = false
  /// Our guard may disconnect it, sooner or later as the machine is fast: it ends as a flood.
  var mayBeCutOff = false

  var testDescription: String { name }

  /// Of a completion.
  var bytes: Int? { if case .completes(_, let bytes) = ending { bytes } else { nil } }

  static func ok(_ name: String, _ bytes: Int = 2, requests: Int = 1) -> Self {
    Self(name: name, ending: .completes(200, bytes: bytes), requests: requests...requests)
  }

  static func bad(
    _ name: String, _ code: NetworkError.Code = .http2Failed, _ reason: String = "", requests: Int = 1
  ) -> Self { Self(name: name, ending: .fails(code, reason), requests: requests...requests) }

  /// libcurl 8 tells of more (see `Quirks`).
  static func by(version before8: Self, _ since8: Self) -> Self {
    LoadedCurl.tellsOfCutOffs ? since8 : before8
  }

  static func late(_ name: String, _ reason: String, hasBody: Bool = false) -> Self {
    Self(name: name, ending: .fails(.timedOut, reason), isLate: true, hasBody: hasBody)
  }
}

extension LoadedCurl {
  /// HTTP/2 that breaks and TLS that ends inside an answer are failures.
  static var tellsOfCutOffs: Bool { version >= 0x08_00_00 }
}

extension HTTP2Expectation {
  /// Frames without end that belong to no body. libcurl 8 reads some and lets others have their turn, so only a limit
  /// of time ends it; 7.88 does so where the sender is slow, and is cut off where it is not.
  static func flood(_ name: String, ends limit: String = "stall") -> Self { cutOff(.late(name, limit)) }

  static func cutOff(_ other: Self) -> Self {
    var expectation = other
    expectation.mayBeCutOff = true
    expectation.requests = 1...3
    return expectation
  }
}

/// Every behaviour of the server, and what comes of it.
extension HTTP2Expectation {
  static let all =
    allowed + ends + resets + frames + messages + floods + spoilt + unspoilt
    + [.bad("body_ends_at_7_of_3"), .bad("body_ends_at_7_of_10"), .late("goaway_at_fourth", "stall")]

  private static let allowed: [Self] = [
    .ok("ok"), .ok("unknown_frames"), .ok("goaway_after"), .ok("goaway_gently"),
    .ok("one_byte_frames", 10_001), .ok("padded"), .ok("informational_few"), .ok("trailers"),
    .ok("fields_of_60_kib"), .ok("no_streams"),
  ]

  private static let ends: [Self] = [
    .bad("goaway_before", requests: 3), .ok("goaway_once", requests: 2),
    .bad("goaway_calm", .connectionLost), .bad("hang_up", .connectionLost),
    .bad("head_then_end", .bodyTruncated), .bad("body_then_end", .bodyTruncated, "got 5 of 10"),
    .late("silence", "headers"),
    .late("head_then_silence", "stall"), .late("window_zero", "headers", hasBody: true),
  ]

  private static let resets: [Self] =
    [
      "no_error", "protocol_error", "internal_error", "flow_control_error", "settings_timeout",
      "stream_closed", "frame_size_error", "cancel", "compression_error", "connect_error",
      "enhance_your_calm", "inadequate_security", "unknown",
    ].map { .bad("rst_\($0)") } + [
      // Not processed, so it is sent again; not for ever.
      .bad("rst_refused_stream", requests: 3), .ok("rst_refused_once", requests: 2),
      .ok("rst_http_1_1_required", requests: 2), .bad("rst_in_body"), .ok("rst_after_answer"),
    ]

  private static let frames: [Self] =
    [
      // libcurl 7.88 takes what had come for the whole; such an answer is not kept.
      .by(version: .ok("frame_too_long", 0), .bad("frame_too_long")), .ok("data_after_end"),
      .by(version: .late("padding_too_long", "stall"), .bad("padding_too_long")), .ok("cacheable"),
      .by(version: .ok("cacheable_cut_off", 5), .bad("cacheable_cut_off")),
      // No libcurl tells of a reset without an error.
      .ok("cacheable_zipped"), .ok("cacheable_reset", 5),
    ]
    + [
      // Nothing came that could be called an answer, and libcurl says no more.
      "settings_wrong_length", "settings_on_a_stream", "settings_window_too_large", "ping_wrong_length",
      "data_on_connection", "data_on_idle_stream", "data_before_head", "window_update_zero",
      "window_update_overflow", "push_promise", "push_flood", "head_on_even_stream", "continuation_alone",
      "continuation_interrupted", "hpack_bad_index", "hpack_bad_huffman",
    ].map { .bad($0, .protocolViolation, "an empty reply") }
    + ["not_http2", "no_settings"].map {
      // The server's first word is wrong, and may be heard before anything is asked.
      Self(name: $0, ending: .fails(.protocolViolation, "an empty reply"), requests: 0...1)
    }

  /// What ends an answer whose length was not told before its end, in the middle of it or together with what came before.
  static let spoilt: [Self] =
    [
      // nghttp2 gives the connection up. libcurl 7.88 takes what had come for the whole, but where it goes to streams.
      "padding_too_long", "padding_on_nothing", "data_on_connection", "frame_too_long", "ping_wrong_length",
      "window_overflow",
    ].flatMap { both("body_\($0)") { .by(version: .ok($0, 5), .bad($0, .bodyTruncated)) } }
    + ["goaway", "hang_up", "close_notify"].flatMap { both("body_\($0)") { .bad($0, .bodyTruncated) } }
    + ["window_overflow_here", "reset", "open_trailers", "goaway_behind"].flatMap {
      both("body_\($0)") { .bad($0) }
    }
    // Of a reset without an error length or coding tell.
    + [.bad("zipped_reset", .decodeFailed, "truncated"), .bad("length_reset", .bodyTruncated, "got 5 of 10")]

  /// Answers that are whole by all that was told.
  static let unspoilt: [Self] =
    both("body_unknown_flags") { .ok($0, 7) } + both("body_reset_behind_end") { .ok($0, 7) }
    + both("body_padding_of_all") { .ok($0, 5) }
    // All bytes that were announced are there.
    + [.ok("body_ends_at_7_of_7", 7), .ok("body_reset_at_length", 5)]

  private static func both(_ name: String, _ make: (String) -> Self) -> [Self] {
    [make(name), make("at_once_" + name)]
  }

  private static let messages: [Self] = [
    "no_status", "status_text", "status_101", "status_twice",
    "request_pseudo_field", "upper_case_name", "value_with_line_break", "value_with_nul",
    "transfer_encoding", "length_too_long", "length_too_short", "lengths_differ", "trailers_with_status",
  ].map { .bad($0) }

  /// Frames that are none of an answer's, many of them or without end: a slow machine may call each of them endless.
  private static let floods: [Self] =
    [
      .bad("settings_flood"), .by(version: .ok("ping_flood"), .bad("ping_flood")), .ok("priority_flood"),
      .ok("window_update_flood"), .ok("empty_data_flood"), .ok("unknown_flood"), .bad("rst_flood"),
      .bad("continuation_flood"), .bad("continuation_empty_flood"),
    ].map(cutOff) + [
      .bad("hpack_bomb", .headersTooLarge, "total"), .bad("informational_endless", .tooManyInformational),
      // Read in one call without a word: within a second after a flood, as these are, they may be taken for one.
      .cutOff(.ok("field_long")), .cutOff(.bad("fields_many", .headersTooLarge)),
      .cutOff(.bad("trailers_long", .headersTooLarge)),
      // A sender that is faster than its reader keeps libcurl in one call, though the transfer is paused in it
      .cutOff(.bad("body_endless", .bodyTooLarge)),
      .flood("priority_endless", ends: "headers"), .flood("empty_data_endless"), .flood("unknown_endless"),
    ]
}
