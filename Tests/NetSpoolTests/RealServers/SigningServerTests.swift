import NetSpool
import NetSpoolTesting
import Testing

@testable import TestSupport

/// Signature Version 4 before a server that works each signature out by itself, from what came over the wire.
@Suite("Signature Version 4 before a server", .needsSigningServer, .ownThreads)
struct SigningServerTests {
  private static let secret = "wJalrXUtnFEMI/K7MDENG+bPxRfiCY"

  private static func credentials(
    secret: String = secret, token: String? = nil, service: String = "s3"
  ) -> NetworkCredentials {
    .awsSigV4(
      accessKey: "AKIDEXAMPLE", secretKey: secret, sessionToken: token, region: "eu-central-1",
      service: service)
  }

  private func withServer(
    token: String? = nil, service: String = "s3", secret: String = secret,
    _ body: (NetworkEngine) async throws -> Void
  ) async throws {
    let account = "AKIDEXAMPLE=\(Self.secret)" + (token.map { "=\($0)" } ?? "")
    let server = try SigningServer(service: service, accounts: account)
    try await withQueue { queue in
      let engine = try NetworkEngine(host: "127.0.0.1", on: queue) {
        ($0.scheme, $0.port) = (.http, Int(server.port))
        $0.credentials = Self.credentials(secret: secret, token: token, service: service)
      }
      try await body(engine)
    }
  }

  @Test(
    arguments: ["s3", "execute-api"],
    [
      "/", "/bucket/key", "/a%20b/%C3%A4;c=d", "/a//b/", "/?b=2&a=1&a=0", "/?lifecycle",
      "/x?empty=&q=a%20b%2Bc+d", "/$(x)!'*,:@", "/%7Etilde~",
    ]) func `is good for whatever is asked for`(_ service: String, _ path: String) async throws
  {
    try await withServer(service: service) { engine in
      let url = "http://127.0.0.1:\(try #require(engine.configuration.port))\(path)"
      for method in [NetworkRequest.Method.get, .delete, .post] {
        let ending = await engine.end(of: engine.operation(url: url, method: method))
        let answer = ending.text ?? ending.error?.response?.text
        #expect(answer == "AKIDEXAMPLE \(method) signed 0", "\(method) \(path)")
      }
    }
  }

  @Test func `is good for bodies, fields and parameters`() async throws {
    try await withServer { engine in
      let put = try await engine.put("/key", body: .bytes(Array("hello".utf8), contentType: "text/plain"))
      #expect(put.text == "AKIDEXAMPLE PUT signed 5")
      #expect(await engine.get("/key").end().text == "hello")
      let operation = engine.operation(path: "/other", parameters: ["prefix": "a b+c/d", "Max": "1"])
        .setHeader("X-Amz-Meta-Note", " two  words ").setHeader("Range", "bytes=0-1")
      #expect(await engine.end(of: operation).text == "AKIDEXAMPLE GET signed 0")
      let form = engine.operation(path: "/form", method: .post, parameters: ["a": "b c"])
      #expect(await engine.end(of: form).text == "AKIDEXAMPLE POST signed 5")
    }
  }

  @Test func `files go to S3 unsigned and to others with a hash of the caller's`() async throws {
    let folder = try TestFolder()
    try TestFiles.write("hello".utf8, to: folder.path + "/file")
    func upload(_ engine: NetworkEngine) -> NetworkOperation {
      engine.operation(path: "/file", method: .put).setBody(.file(folder.path + "/file"))
    }
    try await withServer { engine in
      #expect(await engine.end(of: upload(engine)).text == "AKIDEXAMPLE PUT UNSIGNED-PAYLOAD 5")
    }
    try await withServer(service: "glacier") { engine in
      let refused = await engine.end(of: upload(engine)).error
      #expect(refused?.code == .invalidConfiguration && refused?.isRetrySafe == true, "\(refused as Any)")
      let hashed = upload(engine).setHeader(
        "X-Amz-Content-Sha256", "2cf24dba5fb0a30e26e83b2ac5b9e29e1b161e5c1fa7425e73043362938b9824")
      #expect(await engine.end(of: hashed).text == "AKIDEXAMPLE PUT signed 5")
    }
  }

  /// A session's token goes along.
  @Test func `is made anew for a redirect and for each attempt`() async throws {
    try await withServer(token: "IQoJb3JpZ2luX2VjE/+=") { engine in
      #expect(await engine.get("/a/again").end().text == "AKIDEXAMPLE GET signed 0")
      let busy = engine.operation(path: "/busy")
      busy.retry = .standard
      #expect(await engine.end(of: busy).text == "AKIDEXAMPLE GET signed 0")
    }
  }

  @Test func `is refused for another secret and ends with the answer`() async throws {
    try await withServer(secret: "other") { engine in
      let error = await engine.get("/a").end().error
      #expect(error?.code == .status && error?.response?.status == 403)
    }
  }

  @Test func `a time of the caller's own counts`() async throws {
    try await withServer { engine in
      let old = engine.operation(path: "/a").setHeader("X-Amz-Date", "20130524T000000Z")
      #expect(await engine.end(of: old).error?.response?.text == "skewed")
      let bad = await engine.end(of: engine.operation(path: "/a").setHeader("X-Amz-Date", "yesterday")).error
      #expect(bad?.code == .invalidRequest && bad?.isRetrySafe == true)
    }
  }

  @Test func `frozen requests are signed when they are sent`() async throws {
    let folder = try TestFolder(in: TestFiles.fast)
    var freezing = FreezeConfiguration()
    freezing.directory = folder.path + "/frozen"
    try await withServer(token: "t0ken-s3cret") { engine in
      try engine.useFreezing(freezing)
      let letter = engine.letter("/letter", "hello", method: .put)
      _ = await engine.freeze(letter)
      #expect(await letter.end().text == "AKIDEXAMPLE PUT signed 5")
      await blocking { engine.shutDownAndWait(deadline: .seconds(5)) }
    }
    let written = try ChildProcess.run([
      "grep", "-rlaE", "t0ken-s3cret|\(Self.secret)|Signature=", folder.path,
    ])
    #expect(written.output.isEmpty, "\(String(decoding: written.output, as: UTF8.self))")
  }

  @Test func `its secrets are not shown`() throws {
    let credentials = Self.credentials(token: "t0ken")
    var dumped = ""
    dump(credentials, to: &dumped)
    let engine = try NetworkEngine(host: "s3.example")
    let operation = engine.operation(path: "/a").setCredentials(credentials)
    for text in [
      "\(credentials)", String(reflecting: credentials), dumped, "\(operation)", operation.curlCommand,
    ] { #expect(!text.contains("wJalr") && !text.contains("t0ken"), "\(text)") }
    #expect("\(credentials)" == "awsSigV4(accessKey: AKIDEXAMPLE, eu-central-1/s3)")
    let revealed = operation.curlCommand(revealingSecrets: true)
    #expect(revealed.contains("--aws-sigv4 aws:amz:eu-central-1:s3 --user 'AKIDEXAMPLE:\(Self.secret)'"))
    #expect(revealed.contains("X-Amz-Security-Token: t0ken"))
  }

  @Test(
    arguments: [
      ("", "secret", nil, "region", "s3"), ("a/b", "secret", nil, "region", "s3"),
      ("key", "", nil, "region", "s3"), ("key", "se cret", nil, "region", "s3"),
      ("key", "secret", "", "region", "s3"), ("key", "secret", "to\r\nken", "region", "s3"),
      ("key", "secret", nil, "", "s3"), ("key", "secret", nil, "eu/1", "s3"),
      ("key", "secret", nil, "region", ""), ("key", "secret", nil, "r", "s3\n"),
    ] as [(String, String, String?, String, String)]) func `what cannot be signed with is refused at once`(
      _ key: String, _ secret: String, _ token: String?, _ region: String, _ service: String
    ) async throws
  {
    let credentials = NetworkCredentials.awsSigV4(
      accessKey: key, secretKey: secret, sessionToken: token, region: region, service: service)
    let error = NetworkEngine.refusal { $0.credentials = credentials }
    #expect(error?.code == .invalidConfiguration && error?.reason == "credentials")
    try await withEngine { engine, origin in
      let ending = await engine.end(of: engine.operation(path: "/a").setCredentials(credentials))
      #expect(ending.code == .invalidConfiguration && origin.connectionCount == 0)
    }
  }
}
