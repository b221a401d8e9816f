import Foundation
import NetSpool
import NetSpoolFoundation

/// MKNetworkKit's sample of 2011, without the telephone: searches photos by a tag, and shows each as it comes, from the cache
/// and then, if it has changed, anew. The second run hardly asks at all.
///
///     API_KEY=… Flickr TAG FOLDER [https://api.flickr.com]
@main
struct Flickr {
  struct Search: Decodable {
    struct Photo: Decodable {
      let id, secret, server, title: String
      let farm: Int
    }
    struct Page: Decodable { let photo: [Photo] }
    let photos: Page
  }

  let engine: NetworkEngine
  let api: String

  static func main() async throws {
    let words = CommandLine.arguments
    let engine = try NetworkEngine()
    var cache = CacheConfiguration(directory: words[2])
    try engine.useCache(cache)
    let flickr = Flickr(engine: engine, api: words.count > 3 ? words[3] : "https://api.flickr.com")
    for photo in try await flickr.photos(of: words[1]) { flickr.show(photo) }
    // What `show` has enqueued.
    _ = await engine.configuration.queue.drain(deadline: .seconds(60))
    await engine.shutDown()
    engine.closeCache()
  }

  func photos(of tag: String) async throws -> [Search.Photo] {
    var request = NetworkRequest(url: api + "/services/rest/")
    request.parameters = [
      "method": "flickr.photos.search", "api_key": ProcessKey.value, "tags": tag, "per_page": "200",
      "format": "json", "nojsoncallback": "1",
    ]
    return try await engine.response(for: request).decoded(as: Search.self).photos.photo
  }

  func show(_ photo: Search.Photo) {
    let place = api.hasSuffix("api.flickr.com") ? "https://farm\(photo.farm).staticflickr.com" : api
    engine.image(at: "\(place)/\(photo.server)/\(photo.id)_\(photo.secret)_s.jpg") { image, _, isCached in
      print("\(photo.title): \(image.pixelWidth)x\(image.pixelHeight)\(isCached ? ", from the cache" : "")")
    } onError: { error in
      print("\(photo.title): \(error)")
    }
  }
}

/// The key that Flickr gives to programs.
enum ProcessKey {
  static var value: String { ProcessInfo.processInfo.environment["API_KEY"] ?? "" }
}
