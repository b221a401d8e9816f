import Hummingbird
import Logging
import NetSpool
import NetSpoolImages

/// A proxy for images and thumbnails with a cache, and web hooks that are sent whatever happens:
///
///     GET  /images/NAME      the upstream's picture; from the cache while it is fresh, or while the upstream is down
///     GET  /thumbnails/NAME  the same, 128 pixels wide or high, as WebP
///     POST /hooks/NAME       202 once the hook is on the disk; it is sent in the background, after a crash too
///     GET  /metrics          what the queue and the cache are doing
///
/// SIGTERM ends it in good order: no new connections, answers to all that was asked, hooks kept on the disk.
///
///     PORT=8080 UPSTREAM=images.example.org HOOKS=hooks.example.org DATA=/var/lib/proxy image-proxy
@main
struct ImageProxy {
  static func main() async throws {
    let environment = Environment()
    let data = environment.get("DATA") ?? "."
    let images = try engine(environment.get("UPSTREAM") ?? "127.0.0.1:9000")
    var cache = CacheConfiguration(directory: data + "/cache")
    try images.useCache(cache)

    let hooks = try engine(environment.get("HOOKS") ?? "127.0.0.1:9000")
    var freezing = FreezeConfiguration(directory: data + "/hooks")
    try hooks.useFreezing(freezing)

    let application = Application(
      router: router(images, hooks),
      configuration: .init(
        address: .hostname("127.0.0.1", port: environment.get("PORT", as: Int.self) ?? 8080)),
      services: [images, hooks])
    try await application.runService()
  }

  /// Plain HTTP to `host:port`, for an upstream next door; for others leave scheme and port alone.
  static func engine(_ place: String) throws -> NetworkEngine {
    let parts = place.split(separator: ":")
    var configuration = NetworkEngine.Configuration()
    configuration.scheme = .http
    configuration.port = parts.count > 1 ? Int(parts[1]) : nil
    return try NetworkEngine(host: String(parts[0]), configuration: configuration)
  }

  static func router(_ images: NetworkEngine, _ hooks: NetworkEngine) -> Router<BasicRequestContext> {
    let router = Router()
    router.get("images/{name}") { _, context in
      try await picture(context.parameters.require("name"), from: images)
    }
    router.get("thumbnails/{name}") { _, context in
      try await thumbnail(context.parameters.require("name"), from: images)
    }
    router.post("hooks/{name}") { request, context in
      let body = try await request.body.collect(upTo: 1 << 20)
      let operation = hooks.operation(path: "hooks/" + (try context.parameters.require("name")))
      operation.setBody(.bytes([UInt8](body.readableBytesView), contentType: request.headers[.contentType]))
      let ticket = try await hooks.frozenTicket(for: operation)
      return Response(status: .accepted, body: .init(byteBuffer: ByteBuffer(string: "\(ticket.id)\n")))
    }
    router.get("metrics") { _, _ in await metrics(images) }
    return router
  }

  static func picture(_ name: String, from images: NetworkEngine) async throws -> Response {
    do {
      let answer = try await images.get("images/\(name)")
      return response(answer.body, answer.headers["Content-Type"], age: answer.age)
    } catch let error as NetworkError {
      throw HTTPError(error.response?.status == 404 ? .notFound : .badGateway, message: "\(error)")
    }
  }

  static func thumbnail(_ name: String, from images: NetworkEngine) async throws -> Response {
    do {
      let picture = images.operation(path: "images/\(name)")
      let small = try await images.thumbnail(of: picture, as: ThumbnailTransform(maxSide: 128, format: .webP))
      return response(small.body, small.image.format.mimeType, age: nil)
    } catch let error as NetworkError {
      throw HTTPError(error.response?.status == 404 ? .notFound : .badGateway, message: "\(error)")
    }
  }

  static func response(_ body: NetSpool.ResponseBytes, _ type: String?, age: Duration?) -> Response {
    var headers = HTTPFields()
    headers[.contentType] = type
    headers[.age] = age.map { "\($0.components.seconds)" }
    let bytes = body.withUnsafeBytes { ByteBuffer(bytes: $0) }
    return Response(status: .ok, headers: headers, body: .init(byteBuffer: bytes))
  }

  static func metrics(_ images: NetworkEngine) async -> String {
    let snapshot = await images.configuration.queue.snapshot
    var lines = ["running \(snapshot.activity.running)", "waiting \(snapshot.activity.queued)"]
    lines.append("frozen \(snapshot.activity.frozen)")
    for origin in snapshot.origins {
      lines.append("width{origin=\"\(origin.origin)\"} \(origin.width)")
      lines.append("connections{origin=\"\(origin.origin)\"} \(origin.connections)")
    }
    if let cache = images.cacheStatistics {
      lines += ["cache_hits \(cache.hits)", "cache_misses \(cache.misses)", "cache_bytes \(cache.bytes)"]
    }
    return lines.joined(separator: "\n") + "\n"
  }
}
