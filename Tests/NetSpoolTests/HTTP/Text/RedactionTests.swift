import Testing

@testable import NetSpool
@testable import TestSupport

@Suite("Redaction")
struct RedactionTests {
  private let redaction = Redaction(fields: FieldMeaning(secret: ["X-Tenant"]))

  /// Which are secret, FieldMeaningTests say.
  @Test(arguments: ["COOKIE": "•••", "x-tenant": "•••", "Host": "a\\tb\\u{1B}", "ETag": "a\\tb\\u{1B}"])
  func `secret header fields are masked, others stay readable`(name: String, shown: String) {
    #expect(redaction.isSecret(header: name) == (shown == "•••"))
    #expect(redaction.header(name: name, value: "a\tb\u{1B}") == shown)
  }

  @Test(arguments: [
    ("https://h.org/a/b", "https://h.org/a/b"), ("https://h.org/?a=1&b", "https://h.org/?a=1&b"),
    ("https://u@h/", "https://•••@h/"), ("https://u:p@h:81/x", "https://•••@h:81/x"),
    ("http:/u:p@h/", "http:/•••@h/"), ("http:\\\\u:p@h/", "http:\\\\•••@h/"), ("//u:p@h/", "//•••@h/"),
    ("u:p@h/x", "•••@h/x"), ("https://u:p@q@h/", "https://•••@h/"), ("https://u:p/q@h/x", "https://•••@h/x"),
    ("https://u:p?q#r@h/x", "https://•••@h/x"), ("https://[::1]/a@b", "https://[::1]/a@b"),
    ("https://h/@a?mail=x@y", "https://h/@a?mail=x@y"), ("/a:b@c", "/a:b@c"),
    ("https://h/https://u:p@i/", "https://h/https://•••@i/"),
    ("https://h?u=ftp://u:p@i", "https://h?u=ftp://•••@i"), ("https://h/?token=s", "https://h/?token=•••"),
    ("https://h/?a=1&KEY=s&b=2", "https://h/?a=1&KEY=•••&b=2"),
    ("https://h/?%74oken=s", "https://h/?%74oken=•••"), ("https://h/?a=1;sig=s;t", "https://h/?a=1;sig=•••"),
    ("https://h/#access_token=s", "https://h/#access_token=•••"),
    ("https://h/#/r?code=s&x=1", "https://h/#/r?code=•••&x=1"),
    ("https://h/?password=a?b#c", "https://h/?password=•••"),
    ("https://h/?X-Amz-Date=1&x-amz-signature=s", "https://h/?X-Amz-Date=•••&x-amz-signature=•••"),
    ("https://h/?next=https%3A%2F%2Fi%2F%3Ftoken%3Ds&b=1", "https://h/?next=•••&b=1"),
    ("https://h/?next=https%3A%2F%2Fu%3As%40i", "https://h/?next=•••"),
    ("https://h/?next=a%253Ftoken%253Ds", "https://h/?next=•••"),
    ("https://h/?monkey=1&zipcode=2&tokens=3&author=4", "https://h/?monkey=1&zipcode=2&tokens=3&author=4"),
    ("https://h/?token", "https://h/?token"), ("https://h/?&&=&", "https://h/?&&=&"),
    ("https://h/?a=%3D%26", "https://h/?a=%3D%26"), ("", ""), ("@", "•••@"), ("?", "?"),
    ("https://h/\r\nX: y", "https://h/\\r\\nX: y"),
    ("https://h/\u{9B}2J\u{202E}", "https://h/\\u{9B}2J\\u{202E}"),
  ])
  func `secrets of a URL are masked, and nothing else`(url: String, expected: String) {
    #expect(redaction.url(url) == expected)
  }

  @Test(arguments: [
    "token", "key", "sig", "signature", "secret", "password", "code", "access_token", "api_key", "apiKey",
    "accessToken", "client_secret", "user[password]", "X-Amz-Credential", "x-goog-signature", "oauth.token",
    "PASSWD", "sessionid", "secretKey", "privateKey", "userPass", "password2", "token1", "id_token_hint",
  ])
  func `secret names are found by their last word`(name: String) {
    #expect(Redaction.isSecret(key: name.utf8))
  }

  @Test(
    "secret members of JSON are masked, whatever their type and however broken the text",
    arguments: [
      (#"{"a":"b"}"#, #"{"a":"b"}"#), (#"{"token" : "s","a":"token"}"#, #"{"token" : "•••","a":"token"}"#),
      (#"{"x":[{"password":"s\"s\\"}],"b":1}"#, #"{"x":[{"password":"•••"}],"b":1}"#),
      (#"{"key":12,"b":1}"#, #"{"key":"•••","b":1}"#), (#"{"key":12}"#, #"{"key":"•••"}"#),
      (#"{"secret":{"a":["}"],"b":1},"c":2}"#, #"{"secret":"•••","c":2}"#),
      (#"{"tok\u0065n":"s"}"#, #"{"tok\u0065n":"•••"}"#), (#"{"password":"s"#, #"{"password":"•••""#),
      (#"{"password""#, #"{"password""#), (#"{"password":"#, #"{"password":"•••""#), ("\"", "\""),
      ("\"\\", "\"\\"),
    ])
  func json(text: String, expected: String) { #expect(redaction.json(text) == expected) }

  @Test func `no input makes it trap (seed 7)`() {
    var numbers = SplitMix64(seed: 7)
    let alphabet = Array("ab:/@?#&;=%7\\\"{}[],\n é[]token".unicodeScalars)
    for _ in 0..<5000 {
      var text = ""
      for _ in 0..<Int.random(in: 0...24, using: &numbers) {
        text.unicodeScalars.append(alphabet.randomElement(using: &numbers)!)
      }
      #expect(!redaction.url(text).utf8.contains { $0 < 0x20 })
      _ = redaction.json(text)
      _ = redaction.form(text)
    }
  }

  @Test func `50 planted secrets: none is seen in a URL, a header, a form, JSON or a curl command`() {
    let keys = [
      "token", "key", "sig", "secret", "password", "code", "access_token", "api_key", "X-Amz-Security-Token",
    ]
    let fields = ["Authorization", "Proxy-Authorization", "Cookie", "X-Api-Key", "X-Auth-Token"]
    for number in 0..<50 {
      let secret = "pl4nted-\(number)-s3cret"
      let key = keys[number % keys.count]
      let url = "https://u:\(secret)@h.org/p?a=1&\(key)=\(secret)&b=2#\(key)=\(secret)"
      var multipart = Multipart()
      multipart.addData(Array(secret.utf8), forKey: key)
      multipart.addData(Array("{\"\(key)\":\"\(secret)\"}".utf8), forKey: "j=", mimeType: "application/json")
      let bodies: [NetworkRequest.Body] = [
        .form(["a": "1", key: secret]), .json(FlatJSON.encode([Parameter(key, secret)])),
        .bytes(
          Array("\(key)=\(secret)".utf8), contentType: "application/x-www-form-urlencoded; charset=utf-8"),
        .multipart(multipart),
      ]
      var shown = [redaction.url(url), redaction.header(name: fields[number % fields.count], value: secret)]
      for body in bodies {
        var command = CurlCommand(method: .post, url: url)
        command.headers.append(name: fields[number % fields.count], value: "Bearer \(secret)")
        command.headers.append(name: "Referer", value: url)
        command.credential =
          [
            .basic(user: "u", password: Secret(secret), preemptive: true), .bearer(Secret(secret)),
          ][number % 2]
        command.body = body
        shown.append(command.text())
        #expect(command.text(revealingSecrets: true).contains(secret))
      }
      #expect(shown.allSatisfy { !$0.contains(secret) && !$0.contains(Base64.encode(secret.utf8)) })
    }
  }
}
