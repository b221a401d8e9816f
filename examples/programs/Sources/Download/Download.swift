import NetSpool

/// Fetches a file, goes on where an earlier run broke off, and publishes nothing but what has the digest:
///
///     Download https://example.org/disk.img disk.img [SHA256]
@main
struct Download {
  static func main() async throws {
    let words = CommandLine.arguments
    let file = FileDownloadStream(path: words[2], resume: true, sha256: words.count > 3 ? words[3] : nil)
    let engine = try NetworkEngine()
    let operation = engine.operation(url: words[1])
      .addDownloadStream(file)
      .onDownloadProgress { progress in
        guard let fraction = progress.fraction else { return }
        print("\(Int(fraction * 100)) %, \(Int(progress.bytesPerSecond / 1024)) KiB/s")
      }
    let response = try await engine.response(for: operation)
    print("\(response.streams[0].bytes) bytes in \(words[2])")
  }
}
