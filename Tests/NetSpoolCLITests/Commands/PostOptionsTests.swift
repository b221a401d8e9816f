import ArgumentParser
import Testing

@testable import NetSpoolCLI

@Suite struct PostOptionsTests {
  @Test func `every post option is understood`() throws {
    let options = try PostCommand.parse([
      "http://h/", "--method", "PUT", "--form", "k=v", "--form", "f=@\"a;b.txt\";type=text/plain", "-o",
      "out", "-v", "--header", "A: b", "--idempotency-key", "k", "--freeze", "--detach", "--frozen-store",
      "d", "--lane", "l", "--dedupe", "e", "--tag", "t", "--expires", "7d", "--json-output", "--timeout",
      "5s",
    ])
    #expect(options.words.method == "PUT")
    #expect(options.body.form.map(\.content) == [.text("v"), .file("a;b.txt", type: "text/plain")])
    #expect(options.freezing.expires?.seconds == 604_800)
    #expect(options.freezing.place.words == ["--frozen-store", "d"])
  }

  @Test(
    arguments: [
      ("k=", .text("")), ("k=a=b", .text("a=b")), ("k=@a", .file("a", type: nil)),
      ("k=\"a;b\\\" c\"", .text("a;b\" c")), ("k= a b ;type=text/plain", .text("a b")), ("k=\"a;b", nil),
      ("k=@a; type=text/html; charset=utf-8", .file("a", type: "text/html; charset=utf-8")),
      ("k=@a;type=text/html;x=y ;filename=b", .file("a", type: "text/html;x=y", name: "b")),
      ("k=@\"a;x\";FileName=\"c;d\"", .file("a;x", type: nil, name: "c;d")), ("k=<\"a,b\"", .textOf("a,b")),
      ("k=@a,b", nil), ("k=a;b", nil), ("k=a;encoder=base64", nil), ("k=@a;headers=@b", nil), ("=v", nil),
      ("k=(x)", nil), ("k=@", nil), ("k", nil), ("k=a;type=text", nil), ("k=\"a\"b", nil),
      ("k=<a;filename=b", nil),
    ] as [(String, FormField.Content?)])
  func `form fields are read as curl reads them`(text: String, content: FormField.Content?) {
    let field = FormField(argument: text)
    #expect((field.problem == nil ? field.content : nil) == content)
    #expect((field.problem == nil) == (field.name == "k"))
    #expect(field.problem?.contains("\0") != true && field.problem?.contains("base64") != true)
  }

  @Test(
    arguments: [
      (["HOME": "/h"], "/h/.local/state/netspool/tool"),
      (["HOME": "/h", "XDG_STATE_HOME": "/x"], "/x/netspool/tool"),
      (["HOME": "/h", "XDG_STATE_HOME": "relative"], "/h/.local/state/netspool/tool"), ([:], nil),
    ] as [([String: String], String?)])
  func `the user's store is the default`(variables: [String: String], path: String?) throws {
    #expect(try FrozenPlace.parse([]).path(Environment(variables)) == path)
    #expect(try FrozenPlace.parse(["--frozen-store", "here"]).path(Environment(variables)) == "here")
  }

  @Test(
    arguments: [
      ("http://h/a", "http://h"), ("HTTP://User:p@H:80/", "http://h"), ("https://h:443", "https://h"),
      ("https://h:80?q", "https://h:80"), ("http://[::1]:8080/a@b", "http://[::1]:8080"),
    ])
  func `origins are compared`(url: String, origin: String) { #expect(URLText.origin(url) == origin) }

  @Test(
    arguments: [
      (0, "0 s"), (99.4, "99 s"), (100, "2 min"), (5_400, "90 min"), (86_400, "24 h"), (604_800, "7 d"),
    ] as [(Double, String)])
  func `spans have one unit`(seconds: Double, text: String) {
    #expect(HumanText.span(.seconds(seconds)) == text)
  }

  @Test func `drawn keys are random UUIDs`() {
    let keys = Set((0..<100).map { _ in IdempotencyKeys.random() })
    #expect(keys.count == 100)
    for key in keys {
      #expect(key.split(separator: "-").map(\.count) == [8, 4, 4, 4, 12])
      #expect(key.dropFirst(14).first == "4")
    }
  }
}
