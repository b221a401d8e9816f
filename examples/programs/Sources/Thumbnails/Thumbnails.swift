import Foundation
import NetSpool
import NetSpoolFoundation
import NetSpoolImages

/// Makes small pictures of all whose URLs are on standard input, as `0.webp`, `1.webp`, … of a folder:
///
///     Thumbnails FOLDER < urls.txt
@main
struct Thumbnails {
  static func main() async throws {
    let folder = CommandLine.arguments[1]
    let engine = try NetworkEngine()
    var cache = CacheConfiguration(directory: folder + "/cache")
    try engine.useCache(cache)
    // The queue and the decoders have their limits: all that come may wait.
    await withTaskGroup { group in
      var number = 0
      while let url = readLine() {
        group.addTask { [number] in print(await make(url, "\(folder)/\(number).webp", engine)) }
        number += 1
      }
    }
    await engine.shutDown()
    engine.closeCache()
  }

  static func make(_ url: String, _ path: String, _ engine: NetworkEngine) async -> String {
    do {
      let small = try await engine.thumbnail(of: url, maxSide: 128)
      try Data(small.body).write(to: URL(fileURLWithPath: path))
      let size = "\(small.image.pixelWidth)x\(small.image.pixelHeight)"
      return "\(url) \(size) \(small.body.count) bytes\(small.isFromCache ? ", kept" : "")"
    } catch {
      return "\(url) \(error)"
    }
  }
}
