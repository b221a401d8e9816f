internal import CNetSpoolCurl
internal import CNetSpoolShims
internal import Glibc
internal import Synchronization

/// The authorities of a `TrustStore`, read once in the process and shared by all its connections, where libcurl uses OpenSSL.
///
/// libcurl would read them itself on each loop, in the middle of a handshake: the system's bundle holds a loop for 30 ms, and
/// a folder costs that for every connection. So it is given none, and each of its contexts gets these
/// (SSL_CTX_set1_cert_store(3)).
///
/// Files that a user names count with what they hold when the engine is made: by that engines share connections and answers.
@safe
final class Authorities: Sendable, Hashable {
  private struct State {
    /// An X509_STORE, which contexts hold as well.
    var store = 0
    var isReading = false
    var waiting: [@Sendable () -> Void] = []
  }

  /// Of the files that a user has named; nil: the system's bundle, which is read when it is needed.
  private let content: [UInt8]?
  /// SHA-256 of the content.
  let digest: String
  private let state = Mutex(State())
  /// When they are to be made of it, again or for the first time.
  private let due = Atomic<Microseconds>(0)

  /// The system's are good for a day. Where there are none, it is looked again after a second.
  private static let freshTime: Microseconds = 86_400_000_000
  private static let failedTime: Microseconds = 1_000_000

  init(_ content: [UInt8]?) {
    self.content = content
    digest = content.map { Hexadecimal.text(Array(SHA256.of($0))) } ?? "system"
  }

  deinit {
    let store = state.withLock { $0.store }
    if store != 0 { unsafe OpenSSL.free?(UnsafeMutableRawPointer(bitPattern: store)) }
  }

  /// False: connections wait for `prepare`. Those that are a day old are good until they have been read again.
  func areReady(now: Microseconds) -> Bool {
    if now < due.load(ordering: .acquiring) { return true }
    let isHeld = state.withLock { $0.store != 0 }
    if isHeld { prepare() }
    return isHeld
  }

  /// Makes them on a thread of its own, which the disk may keep for as long as it likes, and calls there, whatever came of it;
  /// at once where another loop has had them made since `areReady` was asked.
  func prepare(_ done: (@Sendable () -> Void)? = nil) {
    let (areThere, begins) = state.withLock { state in
      if state.store != 0, MonotonicClock.now < due.load(ordering: .acquiring) { return (true, false) }
      defer { state.isReading = true }
      if let done { state.waiting.append(done) }
      return (false, !state.isReading)
    }
    if areThere { done?() }
    if begins { SystemThread.run("netspool-trust") { [self] in make() } }
  }

  private func make() {
    let bytes = unsafe content ?? LoadedCurl.text(LoadedCurl.info?.cainfo).flatMap(Self.read) ?? []
    let new = OpenSSL.store(of: bytes)
    let (old, waiting) = state.withLock { state in
      defer {
        if new != 0 { state.store = new }
        (state.isReading, state.waiting) = (false, [])
        let again = MonotonicClock.now + (new == 0 ? Self.failedTime : Self.freshTime)
        due.store(content == nil ? again : .max, ordering: .releasing)
      }
      return (new == 0 ? 0 : state.store, state.waiting)
    }
    if old != 0 { unsafe OpenSSL.free?(UnsafeMutableRawPointer(bitPattern: old)) }
    for done in waiting { done() }
  }

  /// Gives them to a context of OpenSSL's. False: there are none, and no connection is to be made.
  func lend(to context: UnsafeMutableRawPointer) -> Bool {
    // A connection that nothing has waited for.
    if state.withLock({ $0.store == 0 && !$0.isReading }), due.load(ordering: .acquiring) == 0 { make() }
    return state.withLock { state in
      guard let store = unsafe UnsafeMutableRawPointer(bitPattern: state.store) else { return false }
      unsafe OpenSSL.lend?(context, store)
      return true
    }
  }

  static func == (one: Authorities, other: Authorities) -> Bool { one === other }

  func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(self)) }

  /// By this libcurl tells apart whose connections are whose (CURLOPT_CAPATH). There is nothing that it could look at.
  var name: String { "/dev/null/\(digest)" }

  /// Another TLS library than OpenSSL is told the files, and reads them.
  static var areLent: Bool { OpenSSL.isUsed }

  private static let known = Mutex<[Authorities]>([])
  /// The last ones are kept, whether an engine has them or not: a large bundle takes 2 MB.
  private static let knownMax = 8
  private static let bytesMax = 64 << 20

  /// The authorities of a trust store. Reads the files that a user has named.
  static func of(_ trust: TrustStore) -> Authorities {
    let content: [UInt8]?
    switch trust {
    case .system: content = nil
    case .files(let bundle, let folder):
      content = (bundle.flatMap(read) ?? []) + (folder.map(read(folder:)) ?? [])
    }
    return known.withLock { known in
      let index = known.firstIndex { $0.content == content }
      let authorities = index.map { known.remove(at: $0) } ?? Authorities(content)
      known.append(authorities)
      if known.count > knownMax { known.removeFirst() }
      return authorities
    }
  }

  /// All certificates and lists of revoked ones in a folder, each behind the name that openssl-rehash(1) gives it, which is no
  /// part of a certificate.
  private static func read(folder: String) -> [UInt8] {
    SystemText.names(inDirectory: folder).sorted().filter(isHash).flatMap { name in
      Array("\n\(name)\n".utf8) + (read("\(folder)/\(name)") ?? [])
    }
  }

  /// `1a2b3c4d.0`, `1a2b3c4d.r0`.
  private static func isHash(_ name: String) -> Bool {
    let parts = name.utf8.split(separator: UInt8(ascii: "."))
    return parts.count == 2 && parts[0].count == 8 && parts[0].allSatisfy { Hexadecimal.value($0) != nil }
  }

  /// Nil where there is no regular file, or one that is too long. A pipe is not waited for.
  private static func read(_ path: String) -> [UInt8]? {
    guard let file = try? FileDescriptor(opening: path, flags: O_RDONLY | O_CLOEXEC | O_NONBLOCK),
      let status = try? FileStatus(of: file), status.isRegular, status.bytes <= bytesMax
    else { return nil }
    return try? file.bytes(atMost: Int(status.bytes))
  }
}

/// What is called of the OpenSSL that libcurl brings along, which is another one in each system.
private enum OpenSSL {
  typealias Make = @Sendable @convention(c) () -> UnsafeMutableRawPointer?
  typealias Open = @Sendable @convention(c) (UnsafeRawPointer?, Int32) -> UnsafeMutableRawPointer?
  typealias Read =
    @Sendable @convention(c) (
      UnsafeMutableRawPointer, UnsafeRawPointer?, UnsafeRawPointer?, UnsafePointer<CChar>?
    ) -> UnsafeMutableRawPointer?
  typealias Add = @Sendable @convention(c) (UnsafeMutableRawPointer, UnsafeMutableRawPointer) -> Int32
  typealias SetFlags = @Sendable @convention(c) (UnsafeMutableRawPointer, UInt) -> Int32
  typealias Free = @Sendable @convention(c) (UnsafeMutableRawPointer?) -> Void
  typealias Lend = @Sendable @convention(c) (UnsafeMutableRawPointer, UnsafeMutableRawPointer) -> Void
  typealias Forget = @Sendable @convention(c) () -> Void

  private static let make = unsafe LoadedLibraries.function("X509_STORE_new", as: Make.self)
  private static let open = unsafe LoadedLibraries.function("BIO_new_mem_buf", as: Open.self)
  private static let close = unsafe LoadedLibraries.function("BIO_vfree", as: Free.self)
  private static let read = unsafe LoadedLibraries.function("PEM_read_bio_X509_AUX", as: Read.self)
  private static let add = unsafe LoadedLibraries.function("X509_STORE_add_cert", as: Add.self)
  private static let release = unsafe LoadedLibraries.function("X509_free", as: Free.self)
  private static let setFlags = unsafe LoadedLibraries.function("X509_STORE_set_flags", as: SetFlags.self)
  private static let forgetErrors = LoadedLibraries.function("ERR_clear_error", as: Forget.self)
  static let free = unsafe LoadedLibraries.function("X509_STORE_free", as: Free.self)
  static let lend = unsafe LoadedLibraries.function("SSL_CTX_set1_cert_store", as: Lend.self)

  /// Another TLS library of libcurl's knows no such contexts.
  static let isUsed =
    unsafe LoadedCurl.text(LoadedCurl.info?.ssl_version)?.hasPrefix("OpenSSL/") == true && make != nil
    && open != nil && close != nil && read != nil && add != nil && release != nil && setFlags != nil
    && free != nil && lend != nil && forgetErrors != nil

  /// X509_V_FLAG_TRUSTED_FIRST and X509_V_FLAG_PARTIAL_CHAIN, as libcurl has them.
  private static let flags: UInt = 0x8000 | 0x8_0000

  /// An X509_STORE of the certificates in PEM (RFC 7468); 0: there are none.
  static func store(of bytes: [UInt8]) -> Int {
    guard let store = make?() else { return 0 }
    var count = 0
    unsafe bytes.withUnsafeBytes { bytes in
      guard let bio = unsafe open?(bytes.baseAddress, Int32(bytes.count)) else { return }
      // With a password, or OpenSSL would ask on the terminal where one is wanted.
      while let certificate = unsafe read?(bio, nil, nil, "") {
        if unsafe add?(store, certificate) == 1 { count += 1 }
        unsafe release?(certificate)
      }
      unsafe close?(bio)
    }
    forgetErrors?()
    guard count > 0 else {
      unsafe free?(store)
      return 0
    }
    unsafe _ = setFlags?(store, flags)
    return Int(bitPattern: store)
  }
}
