import NetSpool
import Synchronization

/// The heads of an exchange byte for byte as they came, those of redirects, retries and rounds of authentication included:
/// for `-i`, `-D`, `-v`, `-w` and `--har`. An answer from the cache has a head as it would have come.
///
/// It is one of the operation's streams, so that such a head, too, is there before the body.
final class WireWatch: WatchingStream {
  struct Seen {
    var remote = (address: "", port: 0)
    var local = (address: "", port: 0)
    var headBytesSent: Int64 = 0
    var headBytesReceived: Int64 = 0
    /// Local ports: each connection has one.
    var ports: Set<Int> = []
    /// Of the last attempt.
    fileprivate(set) var heads: [UInt8] = []
    fileprivate var taken = 0
    /// Of the last head: where it begins, and its status.
    fileprivate var last: (start: Int, status: Int)?
    /// Its empty line has not come: libcurl tells of that late, and of those of interim answers never.
    fileprivate var isOpen = false
    fileprivate var failure: IOFailure?
  }

  private let state = Mutex(Seen())
  private let talk: GetTalk?
  /// The file of `-D`, for all URLs of a command line.
  private let file: SharedDescriptor?

  init(_ options: TargetOptions) throws(IOFailure) {
    talk = options.verbose ? GetTalk() : nil
    file = try options.dumpHeader.map { path throws(IOFailure) in
      SharedDescriptor(try Descriptor.writing(path))
    }
  }

  /// Nil where no option asks for it.
  static func wanted(by options: TargetOptions) throws(IOFailure) -> WireWatch? {
    let isWanted =
      options.verbose || options.include || options.head || options.dumpHeader != nil
      || options.writeOut != nil || options.har != nil
    return isWanted ? try WireWatch(options) : nil
  }

  var seen: Seen { state.withLock(\.self) }
  var failure: IOFailure? { state.withLock(\.failure) }

  /// Another URL is asked, or the same once more.
  func begin(isAgain: Bool = false) {
    state.withLock { seen in
      if !isAgain { seen = Seen() }
      (seen.heads, seen.taken, seen.last, seen.isOpen) = ([], 0, nil, false)
    }
  }

  func saw(_ head: WireHead) {
    state.withLock { seen in
      switch head {
      case .sent(let bytes):
        seen.headBytesSent += Int64(bytes.count)
        talk?.saw(head)
      case .received(let bytes):
        if bytes == Self.lineEnd { return end(&seen) }
        if bytes.starts(with: "HTTP/".utf8) {
          end(&seen)
          let status = bytes.drop { $0 != 0x20 }.dropFirst().prefix(3)
          seen.last = (seen.heads.count, Int(String(decoding: status, as: UTF8.self)) ?? 0)
        }
        seen.isOpen = true
        take(bytes, &seen)
      case .connection(let remote, let local):
        (seen.remote, seen.local) = (remote, local)
        if local.port > 0 { seen.ports.insert(local.port) }
      }
    }
  }

  func open(_ head: ResponseHead, bytesExpected: Int64?) {
    complete(head.httpVersion, head.status, head.headers)
  }

  func received(_ response: NetworkResponse) {
    complete(response.httpVersion, response.status, response.headers)
    talk?.received(response)
    state.withLock { keep(HeadText.lines(response.trailers), &$0) }
  }

  /// The heads that were not taken yet.
  func take() -> [UInt8] {
    state.withLock { seen in
      defer { seen.taken = seen.heads.count }
      return Array(seen.heads[seen.taken...])
    }
  }

  /// Puts a head in that did not come over the wire, in place of the one that confirmed it.
  private func complete(_ version: String, _ status: Int, _ headers: NetworkRequest.Headers) {
    state.withLock { seen in
      end(&seen)
      guard seen.last?.status != status else { return }
      let head = HeadText.bytes(version, status, headers)
      if let last = seen.last, last.status == 304 { seen.heads.removeSubrange(last.start...) }
      if seen.last == nil { talk?.saw(.received(head)) }
      seen.last = (seen.heads.count, status)
      keep(head, &seen)
    }
  }

  private static let lineEnd: [UInt8] = [0x0D, 0x0A]

  private func end(_ seen: inout Seen) {
    if seen.isOpen { take(Self.lineEnd, &seen) }
    seen.isOpen = false
  }

  private func take(_ bytes: [UInt8], _ seen: inout Seen) {
    seen.headBytesReceived += Int64(bytes.count)
    talk?.saw(.received(bytes))
    keep(bytes, &seen)
  }

  private func keep(_ bytes: [UInt8], _ seen: inout Seen) {
    seen.heads += bytes
    guard let file, seen.failure == nil else { return }
    do throws(IOFailure) { try file.descriptor.write(bytes) } catch { seen.failure = error }
  }
}

/// A head that is put together.
enum HeadText {
  static func bytes(_ version: String, _ status: Int, _ headers: NetworkRequest.Headers) -> [UInt8] {
    // An HTTP/2 answer has no phrase, and the cache keeps none.
    let phrase = version == "HTTP/2" ? "" : phrases[status] ?? ""
    return Array("\(version) \(status) \(phrase)\r\n".utf8) + lines(headers) + [0x0D, 0x0A]
  }

  static func lines(_ headers: NetworkRequest.Headers) -> [UInt8] {
    headers.flatMap { Array("\($0.name): \($0.value)\r\n".utf8) }
  }

  private static let phrases: [Int: String] = [
    200: "OK", 203: "Non-Authoritative Information", 204: "No Content", 206: "Partial Content",
    300: "Multiple Choices", 301: "Moved Permanently", 302: "Found", 308: "Permanent Redirect",
    404: "Not Found", 410: "Gone",
  ]
}
