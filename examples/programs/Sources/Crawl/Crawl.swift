import NetSpool

/// A polite crawler, which stays on the sites that it is given:
///
///     Crawl PAGES SECONDS https://example.org https://example.net …
///
/// It reads each site's `robots.txt` first and keeps to it, says who it is, has one request under way at each site and waits
/// between two: so many seconds, or as many as `Crawl-delay` says. A site that asks for quiet (`Retry-After`) gets it from the
/// queue.
@main
struct Crawl {
  static let name = "ExampleCrawler"

  static func main() async throws {
    let words = CommandLine.arguments
    guard words.count > 3, let pages = Int(words[1]), let pace = Double(words[2]) else {
      return print("Crawl PAGES SECONDS SITE...")
    }
    var configuration = NetworkEngine.Configuration()
    configuration.headers = ["User-Agent": "\(name)/1.0 (+https://example.org/crawler)"]
    configuration.limits.bodyBytesInMemoryMax = 4 << 20
    configuration.retry = .standard
    configuration.redirects = .none
    let engine = try NetworkEngine(configuration: configuration)
    await withTaskGroup { group in
      for address in words[3...] {
        group.addTask { await Site(address: address, engine: engine).crawl(pages, .seconds(pace)) }
      }
    }
  }
}

/// One site, page by page.
struct Site: Sendable {
  /// `scheme://host[:port]`
  let address: String
  let engine: NetworkEngine

  func crawl(_ pagesMax: Int, _ pace: Duration) async {
    let robots = await robots()
    let pace = robots.delay ?? pace
    var open = ["/"]
    var seen = Set(open)
    var count = 0
    while count < pagesMax, let path = open.first {
      open.removeFirst()
      guard robots.allows(path) else {
        print("\(address)\(path): not for us")
        continue
      }
      try? await Task.sleep(for: pace)
      count += 1
      do {
        let answer = try await engine.response(for: NetworkRequest(url: address + path))
        let isPage = answer.headers["Content-Type"]?.hasPrefix("text/html") == true
        let links = isPage ? Self.links(in: answer.text ?? "") : []
        print("\(address)\(path): \(answer.status), \(links.count) links")
        for link in links where seen.insert(link).inserted { open.append(link) }
      } catch {
        print("\(address)\(path): \(error)")
      }
    }
  }

  /// RFC 9309: without the file everything is allowed; while it cannot be had, nothing is.
  private func robots() async -> Robots {
    do {
      let answer = try await engine.response(for: NetworkRequest(url: address + "/robots.txt"))
      return Robots(answer.text ?? "", for: Crawl.name)
    } catch let error as NetworkError where (400...499).contains(error.response?.status ?? 0) {
      return Robots("", for: Crawl.name)
    } catch {
      return Robots("User-agent: *\nDisallow: /", for: Crawl.name)
    }
  }

  /// Paths of this site.
  private static func links(in page: String) -> [String] {
    page.matches(of: /href="(\/[^"#?\s\/][^"#\s]*|\/)"/).map { String($0.1) }
  }
}
