internal import CNetSpoolCurl
internal import CNetSpoolShims
internal import Glibc
internal import Synchronization

/// The authorities of a `TrustStore`, read once in the process and shared by all its connections, where libcurl uses OpenSSL.
///
/// libcurl would read them itself on each loop, in the middle of a handshake: the system's bundle holds a loop for 30 ms, and
/// a folder costs that for every connection. So it is given none, and each of its contexts gets these
/// (SSL_CTX_set1_cert_store(3)).
@safe
final class Authorities: Sendable, Hashable {
  private struct State {
    /// An X509_STORE, which contexts hold as well.
    var store = 0
    var isReading = false
    var waiting: [@Sendable () -> Void] = []
  }

  private let bundle: String?
  private let folder: String?
  private let state = Mutex(State())
  /// When they are to be read, again or for the first time.
  private let due = Atomic<Microseconds>(0)

  /// What is read is good for a day, and what cannot be read is tried again after a second.
  private static let freshTime: Microseconds = 86_400_000_000
  private static let failedTime: Microseconds = 1_000_000

  init(bundle: String?, folder: String?) { (self.bundle, self.folder) = (bundle, folder) }

  deinit {
    let store = state.withLock { $0.store }
    if store != 0 { unsafe OpenSSL.free?(UnsafeMutableRawPointer(bitPattern: store)) }
  }

  /// False: connections wait for `read`. Those that are a day old are good until they have been read again.
  func areReady(now: Microseconds) -> Bool {
    if now < due.load(ordering: .acquiring) { return true }
    let isHeld = state.withLock { $0.store != 0 }
    if isHeld { read {} }
    return isHeld
  }

  /// Reads them on a thread of its own, which the disk may keep for as long as it likes, and calls there, whatever came of it.
  func read(_ done: @escaping @Sendable () -> Void) {
    let begins = state.withLock { state in
      defer { state.isReading = true }
      // Who holds some needs none to wait for.
      if !state.isReading || state.store == 0 { state.waiting.append(done) }
      return !state.isReading
    }
    guard begins else { return }
    do { try SystemThread.start(name: "netspool-trust") { [self] in readHere() }.detach() } catch {
      readHere()
    }
  }

  private func readHere() {
    let new = OpenSSL.store(bundle, folder)
    let (old, waiting) = state.withLock { state in
      defer {
        if new != 0 { state.store = new }
        (state.isReading, state.waiting) = (false, [])
        due.store(MonotonicClock.now + (new == 0 ? Self.failedTime : Self.freshTime), ordering: .releasing)
      }
      return (new == 0 ? 0 : state.store, state.waiting)
    }
    if old != 0 { unsafe OpenSSL.free?(UnsafeMutableRawPointer(bitPattern: old)) }
    for done in waiting { done() }
  }

  /// Gives them to a context of OpenSSL's. False: there are none, and no connection is to be made.
  func lend(to context: UnsafeMutableRawPointer) -> Bool {
    // A connection that nothing has waited for.
    if state.withLock({ $0.store == 0 && !$0.isReading }), due.load(ordering: .acquiring) == 0 { readHere() }
    return state.withLock { state in
      guard let store = unsafe UnsafeMutableRawPointer(bitPattern: state.store) else { return false }
      unsafe OpenSSL.lend?(context, store)
      return true
    }
  }

  static func == (one: Authorities, other: Authorities) -> Bool { one === other }

  func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(self)) }

  /// By this libcurl tells apart whose connections are whose (CURLOPT_CAPATH). It looks there for nothing.
  var name: String { "\(bundle ?? ""):\(folder ?? "")" }
}

extension Authorities {
  private struct Key: Hashable {
    let bundle: String?
    let folder: String?
    /// Of the bundle: another file of the same name has others.
    let identity: FileIdentity?
    let modified: Int64?
  }

  private static let known = Mutex<[(key: Key, authorities: Authorities)]>([])
  /// The last ones are kept, whether an engine has them or not: a large bundle takes 2 MB.
  private static let knownMax = 8

  /// The authorities of a trust store; nil where libcurl must read them. Looks at the bundle.
  static func of(_ trust: TrustStore) -> Authorities? {
    guard OpenSSL.isUsed else { return nil }
    let (bundle, folder): (String?, String?)
    switch trust {
    case .system: (bundle, folder) = unsafe (LoadedCurl.text(LoadedCurl.info?.cainfo), nil)
    case .files(let file, let directory): (bundle, folder) = (file, directory)
    }
    if bundle == nil, folder == nil { return nil }
    let status = bundle.flatMap { try? FileStatus(path: $0) }
    let key = Key(bundle: bundle, folder: folder, identity: status?.identity, modified: status?.modified)
    return known.withLock { known in
      let index = known.firstIndex { $0.key == key }
      let authorities =
        index.map { known.remove(at: $0).authorities } ?? Authorities(bundle: bundle, folder: folder)
      known.append((key, authorities))
      if known.count > knownMax { known.removeFirst() }
      return authorities
    }
  }
}

/// What is called of the OpenSSL that libcurl brings along, which is another one in each system.
private enum OpenSSL {
  typealias Make = @Sendable @convention(c) () -> UnsafeMutableRawPointer?
  typealias Load =
    @Sendable @convention(c) (UnsafeMutableRawPointer, UnsafePointer<CChar>?, UnsafePointer<CChar>?) -> Int32
  typealias SetFlags = @Sendable @convention(c) (UnsafeMutableRawPointer, UInt) -> Int32
  typealias Free = @Sendable @convention(c) (UnsafeMutableRawPointer?) -> Void
  typealias Lend = @Sendable @convention(c) (UnsafeMutableRawPointer, UnsafeMutableRawPointer) -> Void
  typealias Forget = @Sendable @convention(c) () -> Void

  private static let make = unsafe LoadedLibraries.function("X509_STORE_new", as: Make.self)
  private static let load = unsafe LoadedLibraries.function("X509_STORE_load_locations", as: Load.self)
  private static let setFlags = unsafe LoadedLibraries.function("X509_STORE_set_flags", as: SetFlags.self)
  private static let forgetErrors = LoadedLibraries.function("ERR_clear_error", as: Forget.self)
  static let free = unsafe LoadedLibraries.function("X509_STORE_free", as: Free.self)
  static let lend = unsafe LoadedLibraries.function("SSL_CTX_set1_cert_store", as: Lend.self)

  /// Another TLS library of libcurl's knows no such contexts.
  static let isUsed =
    unsafe LoadedCurl.text(LoadedCurl.info?.ssl_version)?.hasPrefix("OpenSSL/") == true && make != nil
    && load != nil && setFlags != nil && free != nil && lend != nil && forgetErrors != nil

  /// X509_V_FLAG_TRUSTED_FIRST and X509_V_FLAG_PARTIAL_CHAIN, as libcurl has them.
  private static let flags: UInt = 0x8000 | 0x8_0000

  /// An X509_STORE of what is there; 0: it cannot be read.
  static func store(_ bundle: String?, _ folder: String?) -> Int {
    guard let store = make?() else { return 0 }
    guard unsafe load?(store, bundle, folder) == 1 else {
      unsafe free?(store)
      forgetErrors?()
      return 0
    }
    unsafe _ = setFlags?(store, flags)
    return Int(bitPattern: store)
  }
}
