import BenchKit
import Foundation
import FoundationNetworking

/// A place for bodies by number. Full when it is made.
protocol BodyStore {
  /// Touches the body; 0 if it is not there.
  func find(_ index: Int) -> Int
}

func makeStore(_ options: Options) -> any BodyStore {
  switch options.store {
  case "dictionary": DictionaryStore(options)
  case "nscache": NSCacheStore(options)
  case "urlcache": URLCacheStore(options, memoryBytes: options.bytesOfAll * 4, diskBytes: 0)
  case "urlcache-disk": URLCacheStore(options, memoryBytes: 0, diskBytes: options.bytesOfAll * 4)
  default: usageError("--store: dictionary, nscache, urlcache or urlcache-disk")
  }
}

extension Options {
  fileprivate var bytesOfAll: Int { distinct * (bodyBytes + 4_096) }
  fileprivate var urls: [String] { (0..<distinct).map(url) }
  fileprivate func body(_ index: Int) -> Data {
    Data(repeating: UInt8(truncatingIfNeeded: index), count: bodyBytes)
  }
}

/// Never 0 for a body.
private func touched(_ body: Data) -> Int { unsafe body.withUnsafeBytes { bytes in unsafe touch(bytes) } | 1 }

/// The standard library's dictionary, without a lock: for one thread only.
private struct DictionaryStore: BodyStore {
  private var bodies: [String: Data] = [:]
  private let urls: [String]

  init(_ options: Options) {
    urls = options.urls
    for (index, url) in urls.enumerated() { bodies[url] = options.body(index) }
  }

  func find(_ index: Int) -> Int { bodies[urls[index]].map(touched) ?? 0 }
}

private struct NSCacheStore: BodyStore {
  private let bodies = NSCache<NSString, NSData>()
  private let urls: [NSString]

  init(_ options: Options) {
    urls = options.urls.map { NSString(string: $0) }
    for (index, url) in urls.enumerated() { bodies.setObject(NSData(data: options.body(index)), forKey: url) }
  }

  func find(_ index: Int) -> Int {
    guard let body = bodies.object(forKey: urls[index]) else { return 0 }
    return unsafe touch(UnsafeRawBufferPointer(start: body.bytes, count: body.length)) | 1
  }
}

private struct URLCacheStore: BodyStore {
  private let cache: URLCache
  private let requests: [URLRequest]

  init(_ options: Options, memoryBytes: Int, diskBytes: Int) {
    let folder = options.cache.isEmpty ? nil : options.cache
    cache = URLCache(memoryCapacity: memoryBytes, diskCapacity: diskBytes, diskPath: folder)
    requests = options.urls.compactMap { url in URL(string: url) }.map { URLRequest(url: $0) }
    guard let last = requests.last, cache.cachedResponse(for: last) == nil else { return }
    for (index, request) in requests.enumerated() { store(options.body(index), for: request) }
  }

  private func store(_ body: Data, for request: URLRequest) {
    let fields = ["Cache-Control": "max-age=86400", "Content-Length": String(body.count)]
    guard let url = request.url,
      let head = HTTPURLResponse(url: url, statusCode: 200, httpVersion: "HTTP/1.1", headerFields: fields)
    else { return }
    cache.storeCachedResponse(CachedURLResponse(response: head, data: body), for: request)
  }

  func find(_ index: Int) -> Int { cache.cachedResponse(for: requests[index]).map { touched($0.data) } ?? 0 }
}
