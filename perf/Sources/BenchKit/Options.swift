import Glibc

/// What a client is asked to do. Every client takes the same flags, so one table of commands drives them all.
package struct Options: Sendable {
  package enum Mode: String, Sendable {
    case get, latency, enqueue, memory, download, hits, lookup, crowd, storm, lag, freeze, mixed, overload
    /// Of several threads that hand over at once, and wait for nothing.
    case callers
  }

  package var mode = Mode.get

  /// Requests counted (get, latency) or operations made (enqueue, memory). Default 20,000.
  package var requests = 20_000
  /// Requests before the first one counted: they open the connections and touch the code. Default 1,000.
  package var warmup = 1_000
  /// Requests on the wire at once. Default 64.
  package var concurrency = 64
  /// Requests kept waiting in the client's own queue beyond those on the wire. Default 0.
  package var queued = 0

  /// Not 0: get, hits and freeze are counted for so long, by threads, loops and requests in flight that share no count. The
  /// default, 0: a number of requests is timed.
  package var milliseconds = 0

  /// Origins that the URLs lead to in turn. Default 1.
  package var hosts = 1
  /// Hosts are 127.0.0.1, 127.0.0.2 and so on, at most 16, and not names below localhost. Off by default.
  package var addresses = false
  /// Loops that the queue works on. Default 0: as many as it has by itself.
  package var loops = 0
  /// The library chooses the number of loops by the machine's processors. Off by default.
  package var automatic = false
  /// An origin is on all loops. Off by default.
  package var split = false

  /// Threads that hand over or ask (crowd, storm, callers, hits, freeze). Default 8 in the first two, 1 in the others.
  package var threads = 0

  /// Requests started per second, on time, whatever those before have come to. Default 0: a closed loop.
  package var rate = 0

  /// Origins of the mixed mode, as prefixes of URLs: those that are well, with how many of the requests of each round go
  /// there, and those that are not, with one each.
  package var healthy: [(prefix: String, share: Int)] = []
  package var sick: [String] = []
  /// The places of the sick in a round stay empty. Off by default.
  package var withoutSick = false

  /// Requests of the lowest class that wait beside those that count, which are urgent then. Default 0: none.
  package var bulk = 0

  /// The client finds its width by itself, up to `concurrency`. Off by default.
  package var adaptive = false

  /// Everything before `/t/000001.bin`, and the folder that stands for `t`.
  package var urlPrefix = ""
  package var folder = "t"
  /// Number of different URLs, asked for in turn. Default 10,000.
  package var distinct = 10_000
  /// Number of files that are served; more URLs than that get a query. Default 10,000.
  package var files = 10_000
  /// Adds `?<serial>`, so that no two requests are equal. Off by default.
  package var unique = false
  /// The length every body must have to count as right, in bytes. Default 8,192.
  package var bodyBytes = 8_192

  /// The URL of the download mode, and the files it is written to. No file: the bytes are only counted.
  package var download = ""
  package var outputs: [String] = []

  /// Work out the SHA-256 of what is written (the kit's streams). Off by default.
  package var digests = false

  /// The directory of a cache, which is then used. Empty, the default: none.
  package var cache = ""
  /// What `lookup` looks bodies up in.
  package var store = ""

  /// Talk HTTP/2 over TLS, trusting the certificates in `ca`.
  package var h2 = false
  package var ca = ""

  /// Where closures run: `queue` (the default of the library) or `loop`.
  package var delivery = "queue"

  /// How answers come: `closure`, or `async` (get: a task for each request; download: the body as a sequence).
  package var door = "closure"

  /// The process ends itself by SIGALRM after this many seconds. Default 120.
  package var limitSeconds = 120
}

extension Options {
  private static var numbers: [String: WritableKeyPath<Options, Int>] {
    [
      "--requests": \.requests, "--warmup": \.warmup, "--concurrency": \.concurrency,
      "--queued": \.queued, "--distinct": \.distinct, "--body-bytes": \.bodyBytes, "--files": \.files,
      "--limit-seconds": \.limitSeconds, "--bulk": \.bulk, "--threads": \.threads, "--rate": \.rate,
      "--hosts": \.hosts, "--loops": \.loops, "--milliseconds": \.milliseconds,
    ]
  }
  private static var texts: [String: WritableKeyPath<Options, String>] {
    [
      "--url-prefix": \.urlPrefix, "--folder": \.folder, "--ca": \.ca, "--delivery": \.delivery,
      "--door": \.door,
      "--cache": \.cache, "--store": \.store,
    ]
  }
  private static var switches: [String: WritableKeyPath<Options, Bool>] {
    [
      "--unique": \.unique, "--h2": \.h2, "--digests": \.digests, "--adaptive": \.adaptive,
      "--without-sick": \.withoutSick, "--addresses": \.addresses, "--automatic": \.automatic,
      "--split": \.split,
    ]
  }

  /// Reads the command line, arms the watchdog, and ends the process with status 64 at an unknown flag.
  package static func fromCommandLine() -> Options {
    var options = Options()
    var rest = CommandLine.arguments.dropFirst()
    while let flag = rest.popFirst() {
      guard options.take(flag, &rest) else { usageError("unknown flag, or no value for it: \(flag)") }
    }
    guard
      !options.urlPrefix.isEmpty
        || [.download, .enqueue, .memory, .lookup, .mixed, .callers].contains(options.mode)
    else {
      usageError("--url-prefix is missing")
    }
    if options.threads == 0 { options.threads = [.crowd, .storm].contains(options.mode) ? 8 : 1 }
    alarm(UInt32(clamping: options.limitSeconds))
    return options
  }

  private mutating func take(_ flag: String, _ rest: inout ArraySlice<String>) -> Bool {
    if let path = Self.switches[flag] {
      self[keyPath: path] = true
    } else if let path = Self.numbers[flag] {
      guard let number = rest.popFirst().flatMap({ Int($0) }), number >= 0 else { return false }
      self[keyPath: path] = number
    } else if let path = Self.texts[flag] {
      guard let text = rest.popFirst() else { return false }
      self[keyPath: path] = text
    } else {
      return takeMode(flag, &rest)
    }
    return true
  }

  private mutating func takeMode(_ flag: String, _ rest: inout ArraySlice<String>) -> Bool {
    switch flag {
    case "--latency":
      mode = .latency
      concurrency = 1
    case "--enqueue": mode = .enqueue
    case "--hits": mode = .hits
    case "--lookup": mode = .lookup
    case "--memory": mode = .memory
    case "--crowd": mode = .crowd
    case "--callers": mode = .callers
    case "--lag": mode = .lag
    case "--freeze": mode = .freeze
    case "--storm": mode = .storm
    case "--mixed": mode = .mixed
    case "--overload": mode = .overload
    case "--healthy":
      guard let prefix = rest.popFirst(), let share = rest.popFirst().flatMap({ Int($0) }) else {
        return false
      }
      healthy.append((prefix, share))
    case "--sick":
      guard let prefix = rest.popFirst() else { return false }
      sick.append(prefix)
    case "--download":
      mode = .download
      guard let url = rest.popFirst() else { return false }
      download = url
    case "--output":
      guard let path = rest.popFirst() else { return false }
      outputs.append(path)
    default: return false
    }
    return true
  }
}

extension Options {
  /// The URL of request number `index`: `/t/000001.bin` and so on, round and round.
  ///
  /// `MadeURLs` has those of a measurement, so that what the text costs is in none.
  package func url(_ index: Int) -> String {
    let serial = index % max(distinct, 1)
    let prefix = hosts > 1 ? self.prefix(ofHost: index % hosts) : urlPrefix
    let room = prefix.utf8.count + folder.utf8.count + 64
    return unsafe String(unsafeUninitializedCapacity: room) { buffer in
      var text = unsafe TextWriter(buffer: buffer)
      text.add(prefix)
      text.add("/")
      text.add(folder)
      text.add("/")
      text.add(serial % max(files, 1) + 1, digitsMin: 6)
      text.add(".bin")
      if unique || distinct > files {
        text.add("?")
        text.add(unique ? index : serial, digitsMin: 1)
      }
      return text.count
    }
  }

  /// Names under localhost are origins of their own on the same port, and so are addresses behind 127.0.0.1.
  package func prefix(ofHost number: Int) -> String {
    urlPrefix.replacing(
      "127.0.0.1", with: addresses ? "127.0.0.\(number % 16 + 1)" : "host\(number).localhost")
  }
}

/// The URLs of a measurement, made before it: of unique ones as many as can be started, else as many as are different.
package struct MadeURLs: Sendable {
  private let texts: [String]

  package init(_ options: Options) {
    let started = options.warmup + options.requests + options.concurrency + options.queued
    let isEndless = !options.unique && options.hosts <= 1
    texts = (0..<(isEndless ? max(1, options.distinct) : started)).map(options.url)
  }

  package subscript(_ index: Int) -> String { texts[index % texts.count] }
}

/// Text and numbers, one behind the other.
@safe private struct TextWriter {
  let buffer: UnsafeMutableBufferPointer<UInt8>
  private(set) var count = 0

  init(buffer: UnsafeMutableBufferPointer<UInt8>) { unsafe self.buffer = buffer }

  mutating func add(_ text: String) {
    let bytes = text.utf8.span
    for index in bytes.indices { unsafe buffer[count + index] = bytes[index] }
    count += bytes.count
  }

  mutating func add(_ number: Int, digitsMin: Int) {
    var (digits, rest) = (1, number / 10)
    while rest > 0 || digits < digitsMin { (digits, rest) = (digits + 1, rest / 10) }
    rest = number
    for place in (count..<(count + digits)).reversed() {
      unsafe buffer[place] = UInt8(0x30 + rest % 10)
      rest /= 10
    }
    count += digits
  }
}

/// Says why on standard error and ends with EX_USAGE.
package func usageError(_ text: String) -> Never {
  complain(text)
  exit(64)
}

/// One line on standard error.
package func complain(_ text: String) {
  let line = Array((text + "\n").utf8)
  _ = unsafe write(2, line, line.count)
}
