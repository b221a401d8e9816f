import NetSpool

/// Every behaviour of the catalogue, and what comes of it.
extension HostileExpectation {
  static let all = framing + headers + status + chunks + transport + coding + redirects + requests

  private static let framing: [Self] = [
    .ok("cl_twice_equal"), .bad("cl_differ", .ambiguousFraming, "lengthsDiffer"),
    .bad("cl_list", .ambiguousFraming, "lengthsDiffer"), .ok("cl_list_equal"),
    .bad("cl_plus", .ambiguousFraming), .bad("cl_minus", .ambiguousFraming),
    .bad("cl_hex", .ambiguousFraming), .bad("cl_junk", .ambiguousFraming),
    .bad("cl_empty", .ambiguousFraming), .bad("cl_huge", .ambiguousFraming),
    .bad("cl_te", .ambiguousFraming, "lengthWithTransferEncoding"),
    .bad("te_twice", .ambiguousFraming, "chunkedNotLast"),
    .bad("te_unknown", .ambiguousFraming, "transferEncoding"),
    .bad("te_not_last", .ambiguousFraming, "chunkedNotLast"), .ok("cl_long").closing(),
    .bad("cl_short_close", .bodyTruncated, "got 5 of 10"), .ok("pipelined_extra").closing(),
    .ok("204_body", 0, status: 204).closing(), .ok("304_body", 0, status: 304),
    .ok("head_body", 0), .ok("205_body", status: 205),
  ]

  private static let headers: [Self] = [
    .bad("hdr_big_line", .headersTooLarge, "line"), .bad("hdr_many", .headersTooLarge, "count"),
    .bad("hdr_infinite", .headersTooLarge, "count"), .bad("hdr_line_infinite", .headersTooLarge, "line"),
    .bad("hdr_nul", .protocolViolation), .bad("hdr_nocolon", .protocolViolation),
    .bad("hdr_noname", .protocolViolation), .bad("hdr_badname", .protocolViolation),
    .bad("hdr_barecr", .protocolViolation, "bareCR"),
    .bad("hdr_space_colon", .protocolViolation, "spaceBeforeColon"),
    .ok("hdr_obsfold"), .bad("hdr_leading_space", .protocolViolation), .ok("hdr_barelf"),
    .ok("hdr_nonutf8"), .bad("partial_hdr", .truncatedHeaders), .bad("partial_line", .truncatedHeaders),
    .late("slow_hdr", "headers"),
  ]

  private static let status: [Self] = [
    .bad("1xx_many", .tooManyInformational), .bad("1xx_endless", .tooManyInformational),
    .ok("1xx_few"), .ok("100_unasked"), .bad("101", .protocolViolation, "unsolicited101"),
    .bad("http09", .protocolViolation), .bad("http37", .protocolViolation), .bad("http2", .protocolViolation),
    .bad("icy", .protocolViolation), .bad("status_000", .protocolViolation),
    .bad("status_99999", .protocolViolation), .bad("status_999", .status, "999").staying(),
    .bad("status_text", .protocolViolation), .bad("status_minus", .protocolViolation),
    .bad("status_none", .protocolViolation), .ok("status_no_reason"),
    .bad("status_big_reason", .headersTooLarge, "line"), .bad("empty", .connectionLost),
    .bad("garbage", .protocolViolation),
  ]

  private static let chunks: [Self] = [
    .bad("chunk_badhex", .badChunk), .bad("chunk_toolong", .badChunk), .bad("chunk_overflow", .badChunk),
    .bad("chunk_minus", .badChunk), .bad("chunk_0x", .badChunk), .bad("chunk_empty_size", .badChunk),
    .bad("chunk_nocrlf", .badChunk), .bad("chunk_long_data", .badChunk), .ok("chunk_barelf"),
    .bad("chunk_noend", .bodyTruncated), .bad("chunk_partial", .bodyTruncated),
    .bad("chunk_no_trailer_end", .bodyTruncated), .bad("chunk_ext5mb", .badChunk, "extension"),
    .bad("chunk_trailers20k", .headersTooLarge, "trailers"),
    .bad("chunk_trailers_endless", .headersTooLarge, "trailers"), .ok("chunk_trailer_framing"),
    .ok("chunk_tiny", 100_000),
  ]

  private static let transport: [Self] = [
    .late("slow", "stall"), .ok("sliced", 300), .late("stall_request", "headers"),
    .late("stall_head", "headers"), .late("stall_body", "stall"), .bad("reset_request", .connectionLost),
    .bad("reset_head", .connectionLost), .bad("reset_body", .connectionLost),
    .bad("close_body", .bodyTruncated), .ok("until_close", 10_000).closing(), .ok("keepalive_lie").closing(),
    .bad("body_endless", .bodyTooLarge),
  ]

  private static let coding: [Self] = [
    .ok("gz_ok", 10_240), .bad("gz_bomb", .decompressionLimit, "ratio"),
    .bad("gz_bomb2", .decompressionLimit, "ratio"), .bad("gz_bomb_10g", .decompressionLimit, "ratio"),
    .bad("gz_truncated", .decodeFailed, "truncated").staying(),
    .bad("gz_no_trailer", .decodeFailed, "truncated").staying(), .bad("gz_badcrc", .decodeFailed, "checksum"),
    .bad("gz_badlen", .decodeFailed, "checksum"), .bad("gz_baddata", .decodeFailed, "checksum"),
    .bad("gz_junk", .decodeFailed, "trailingData"), .ok("gz_two_members", 20_480),
    .bad("gz_not", .decodeFailed, "notEncoded"), .ok("gz_empty", 0),
    .bad("gz_header_only", .decodeFailed, "truncated").staying(),
    .ok("enc_unknown", 10_240), .ok("enc_mixed", 10_263), .bad("enc_layers", .decodeFailed, "tooManyLayers"),
  ]

  private static let redirects: [Self] = [
    .bad("redir_loop", .redirectCycle).staying(), .bad("redir_ab", .redirectCycle).staying(),
    .bad("redir_ba", .redirectCycle).staying(), .bad("redir_chain", .tooManyRedirects, "10").staying(),
    .bad("redir_file", .redirectRefused, "scheme").staying(),
    .bad("redir_ftp", .redirectRefused, "scheme").staying(),
    .bad("redir_gopher", .redirectRefused, "scheme").staying(),
    .bad("redir_javascript", .redirectRefused, "scheme").staying(),
    .bad("redir_data", .redirectRefused, "scheme").staying(), .bad("redir_empty", .badLocation).staying(),
    .ok("redir_none", 0, status: 302), .bad("redir_8k", .badLocation, "tooLong").staying(),
    .bad("redir_crlf", .badLocation, "control").staying(),
    .bad("redir_two", .badLocation, "repeated").staying(),
    .bad("redir_nonutf8", .status, "404").staying(), .ok("redir_userinfo", 2), .ok("redir_fragment", 2),
  ]

  private static let requests: [Self] = [
    .bad("early_413", .status, "413"), .ok("early_200", 6), .ok("expect_417", 2),
    .bad("304_unasked", .protocolViolation, "unasked304").staying(),
    .bad("206_unasked", .protocolViolation, "unasked206").staying(), .ok("range_ignored", 1_000),
    .ok("range_wrong", 500, status: 206), .ok("range_other_etag", 500, status: 206),
    .bad("ret_after", .status, "503").staying(), .bad("ret_after_huge", .status, "503").staying(),
    .bad("ret_after_minus", .status, "503").staying(), .bad("ret_after_past", .status, "503").staying(),
    .bad("ret_after_junk", .status, "503").staying(),
  ]
}
