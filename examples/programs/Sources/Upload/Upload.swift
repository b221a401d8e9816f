import NetSpool

/// Sends a photo with a form, as a browser would; `server.py` takes it:
///
///     Upload http://127.0.0.1:8080/photos "On the beach" beach.jpg
@main
struct Upload {
  static func main() async throws {
    let words = CommandLine.arguments
    let engine = try NetworkEngine()
    let operation = engine.operation(url: words[1], method: .post, parameters: ["title": words[2]])
      .addFile(words[3], forKey: "photo", mimeType: "image/jpeg")
      .onUploadProgress { print("\($0.done) of \($0.total ?? 0) bytes") }
    let response = try await engine.response(for: operation)
    print(response.status, response.text ?? "")
  }
}
