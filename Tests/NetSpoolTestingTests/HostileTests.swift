import NetSpoolTesting
import Testing

@Suite struct HostileTests {
  @Test func `names each behaviour once and has those of the list`() {
    let names = HostileCatalogue.all.map(\.name)
    #expect(Set(names).count == names.count)
    let wanted = """
      cl_twice_equal cl_differ cl_list cl_plus cl_minus cl_huge cl_te cl_long cl_short_close hdr_big_line hdr_many \
      hdr_infinite hdr_nul hdr_nocolon hdr_barecr hdr_space_colon hdr_obsfold hdr_barelf partial_hdr slow_hdr slow \
      1xx_many 1xx_endless 101 http09 http37 status_000 status_99999 empty pipelined_extra chunk_badhex \
      chunk_toolong chunk_nocrlf chunk_noend chunk_ext5mb chunk_trailers20k 204_body 304_body head_body gz_bomb \
      gz_bomb2 gz_truncated gz_badcrc gz_junk gz_not enc_unknown enc_layers redir_loop redir_ab redir_chain \
      redir_file redir_ftp redir_javascript redir_empty redir_8k redir_crlf redir_nonutf8 redir_userinfo early_413 \
      expect_417 ret_after
      """
    #expect(Set(wanted.split(separator: " ").map(String.init)).subtracting(names).isEmpty)
    for group in HostileBehaviour.Group.allCases { #expect(!HostileCatalogue.group(group).isEmpty) }
  }

  /// One origin for all: no behaviour may harm the origin that shows it.
  @Test func `serves each and lives on`() throws {
    let origin = try ScriptedOrigin.hostile()
    for behaviour in HostileCatalogue.all {
      let client = try connected(origin)
      let fields = behaviour.requestHeaders.map { "\($0)\r\n" }.joined()
      let length = behaviour.method == "POST" ? "Content-Length: 4\r\n" : ""
      client.ask(behaviour.path, method: behaviour.method, fields: fields + length)
      if behaviour.name == "stall_request" {
        #expect(origin.blockForHits(behaviour.path, 1))
        continue
      }
      #expect(
        client.readSome().isEmpty == ["empty", "reset_request"].contains(behaviour.name), "\(behaviour)")
      #expect(origin.hits(behaviour.path) == 1, "\(behaviour)")
    }
    #expect(try connected(origin).answer(to: "/hostile/ok").body == "ok")
  }

  static let wires: [(name: String, bytes: String)] = [
    ("cl_differ", "HTTP/1.1 200 OK\r\nContent-Length: 5\r\nContent-Length: 6\r\n\r\nhello!"),
    ("hdr_nul", "HTTP/1.1 200 OK\r\nX-Nul: a\0b\r\nContent-Length: 5\r\n\r\nhello"),
    ("hdr_barelf", "HTTP/1.1 200 OK\nContent-Length: 5\n\nhello"),
    ("partial_hdr", "HTTP/1.1 200 OK\r\nX-A: b"),
    ("http09", "<html>hello</html>"),
    ("204_body", "HTTP/1.1 204 No Content\r\nContent-Length: 5\r\n\r\nhello"),
    ("chunk_noend", "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n"),
    ("empty", ""),
  ]

  @Test(arguments: wires) func `sends the wrong bytes`(name: String, bytes: String) throws {
    let origin = try ScriptedOrigin.hostile()
    let client = try connected(origin, asking: "/hostile/\(name)", fields: "Connection: close\r\n")
    #expect(String(decoding: client.readToEnd(), as: UTF8.self) == bytes)
  }

  @Test func `goes on with endless answers`() throws {
    let origin = try ScriptedOrigin.hostile()
    for name in ["hdr_infinite", "1xx_endless", "body_endless", "chunk_trailers_endless"] {
      let client = try connected(origin, asking: "/hostile/\(name)")
      #expect(client.read(4 << 20).count == 4 << 20)
    }
  }

  @Test func `leads through a chain of a thousand`() throws {
    let origin = try ScriptedOrigin.hostile()
    let client = try connected(origin)
    var path = "/hostile/redir_chain"
    var hops = 0
    while path != "/hostile/ok", hops < 1_100 {
      let head = client.answer(to: path).head
      path = head.split(separator: "Location: ").last.map { String($0.prefix { $0 != "\r\n" }) } ?? ""
      hops += 1
    }
    #expect(hops == 1_000)
  }

  @Test func `refuses an upload early`() throws {
    let origin = try ScriptedOrigin.hostile()
    let client = try connected(origin)
    client.ask("/hostile/early_413", method: "POST", fields: "Content-Length: 1000000\r\n")
    client.send([UInt8](repeating: 0, count: 300_000))
    let answer = String(decoding: client.readToEnd(), as: UTF8.self)
    #expect(answer.hasPrefix("HTTP/1.1 413 "))
    #expect(answer.hasSuffix("too large"))
    #expect(client.end == .closed)
  }
}
