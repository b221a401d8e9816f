import Foundation
import NetSpool
import NetSpoolFoundation
import NetSpoolTesting
import Testing

@Suite("HTTP archives")
struct ArchiveTests {
  @Test func `what was recorded is played again`() async throws {
    let archive = HTTPArchive()
    let live = try ScriptedOrigin()
    let signed = Answer.json(["id": 7, "name": "a\"b"])
      .header("Content-Location", "https://anna:secret@h/?token=secret")
      .header("Refresh", "0; url=/q?password=secret")
    live.enqueue(signed, .text("second"), for: "/user")
    live.on("/picture", .bytes(Thumbnail.png(3), type: "image/png"))
    live.on("/missing", .text("none", status: 404))
    func ask(_ origin: ScriptedOrigin) async throws -> [String] {
      var configuration = NetworkEngine.Configuration()
      configuration.scheme = .http
      configuration.port = origin.port
      configuration.onEnd = archive.record
      let engine = try NetworkEngine(host: "127.0.0.1", configuration: configuration)
      var answers: [String] = []
      for path in ["user?a=b", "user?a=b", "picture", "missing?token=secret&a=b"] {
        do {
          let response = try await engine.get(path, headers: ["Referer": "https://h/?api_key=secret"])
          answers.append(
            "\(response.status) \(response.headers["Content-Type"] ?? "") \(response.data.base64EncodedString())"
          )
        } catch let error as NetworkError {
          answers.append("\(error.response?.status ?? 0) \(error.response?.text ?? "")")
        }
      }
      await engine.shutDown()
      return answers
    }
    let first = try await ask(live)
    let text = String(decoding: try archive.data(), as: UTF8.self)
    #expect(archive.count == 4 && !text.contains("secret"))
    let again = try ScriptedOrigin()
    #expect(again.replay(har: text) == 4)
    #expect(try await ask(again) == first)
    #expect(again.replay(har: "{}") == nil)
  }
}
