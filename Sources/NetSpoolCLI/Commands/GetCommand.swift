import ArgumentParser
import NetSpool

struct GetCommand: StatusCommand, ExchangeOptions {
  static let configuration = CommandConfiguration(
    commandName: "get", abstract: "Fetch a URL to standard output or a file, with curl's options.",
    discussion: """
      Examples:
        netspool get https://example.org/
        netspool get -O https://example.org/disk.img            a file, with progress
        netspool get -C - -O https://example.org/disk.img       goes on where it broke off
        netspool get -u anna https://example.org/private -v     asks for $NETSPOOL_PASSWORD

      What differs from curl: redirects are followed and compressed bodies asked for (--no-location, --no-compressed); a \
      status of 400 and more ends with exit status 1, and its body goes to standard output only (-f: nowhere, --no-fail: \
      to a file as well); a file appears when it is whole, and -C - goes on with a part of its own; Basic over plain http \
      to another machine needs --in-clear; failures that may pass are tried again (--retry 0). The cache is left alone \
      unless --cached or --cache asks for it.
      """)

  @OptionGroup var words: ExchangeWords
  @OptionGroup(title: "Where the answer goes") var target: TargetOptions
  @OptionGroup(title: "What to send") var body: BodyOptions
  @OptionGroup(title: "Who is asking") var account: CredentialOptions
  @OptionGroup(title: "Cookies") var cookies: CookieOptions
  @OptionGroup(title: "The request") var request: RequestOptions
  @OptionGroup(title: "The connection") var connection: ConnectionOptions

  @Flag("cached") var cached = false
  @OptionGroup var place: CachePlace

  func validate() throws { try validateTogether() }

  func run(_ console: Console) throws -> JobStatus {
    try GetRun(options: self, console: console, stop: .onSignals).run()
  }

  var standardMethod: String { "GET" }
  func finish(_ request: inout NetworkRequest) {}

  func cacheSettings(_ environment: Environment) throws(StoreFailure) -> CacheConfiguration? {
    cached || place.directory != nil ? try place.settings(environment) : nil
  }
}
