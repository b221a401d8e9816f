internal import CNetSpoolCurl
internal import CNetSpoolLMDB
internal import CNetSpoolShims
internal import CNetSpoolUV
internal import CNetSpoolZlib
internal import Glibc
internal import Synchronization

/// The directories for a user's files (XDG Base Directory Specification).
enum UserDirectories {
  /// For what can be made again: `$XDG_CACHE_HOME`, else `~/.cache`; nil without either.
  static var cache: String? { place("XDG_CACHE_HOME", "/.cache") }

  /// For what must be kept: `$XDG_STATE_HOME`, else `~/.local/state`; nil without either.
  static var state: String? { place("XDG_STATE_HOME", "/.local/state") }

  /// A relative path in the variable counts as none, as the specification demands.
  private static func place(_ variable: String, _ fallback: String) -> String? {
    if let own = ProcessEnvironment.value(variable), own.hasPrefix("/") { return own }
    return ProcessEnvironment.value("HOME").flatMap { $0.hasPrefix("/") ? $0 + fallback : nil }
  }
}

/// The variables that the process was started with.
enum ProcessEnvironment {
  /// A variable's value; nil when it is not set, or empty.
  static func value(_ name: String) -> String? {
    guard let text = unsafe getenv(name) else { return nil }
    let value = unsafe String(cString: text)
    return value.isEmpty ? nil : value
  }
}

/// What the program is called.
enum ProcessName {
  /// The program's file name, as a token that may stand in a header field.
  static let token: String = {
    let path = CommandLine.arguments.first ?? ""
    let name = path.split(separator: "/").last.map(String.init) ?? ""
    let kept = name.utf8.filter { $0.isTokenByte }
    return kept.isEmpty ? "netspool" : String(decoding: kept, as: UTF8.self)
  }()
}

/// Notices that this process is the child of one that used the library.
///
/// In a child of fork(2) the threads are gone, and the locks, reader tables and maps still belong to the parent:
/// whatever we did there we would do to it. So everything begun before the fork is dead in the child.
enum ForkGuard {
  private static let forks = Atomic<Int>(0)
  private static let isArmed: Bool = pthread_atfork(nil, nil, { ForkGuard.noticeFork() }) == 0

  /// The generation of what is begun now, to be kept beside it. From the first call on forks are counted.
  static func begin() -> Int {
    _ = isArmed
    return generation
  }

  /// The number of forks that lie between this process and the first one.
  static var generation: Int { forks.load(ordering: .relaxed) }

  private static func noticeFork() { forks.add(1, ordering: .relaxed) }
}

extension LibraryVersions {
  static func ask() -> LibraryVersions {
    let info = unsafe LoadedCurl.info
    return LibraryVersions(
      curl: unsafe LoadedCurl.text(info?.version) ?? "unknown",
      tls: unsafe LoadedCurl.text(info?.ssl_version),
      http2: unsafe LoadedCurl.text(info?.nghttp2_version).map { "nghttp2/\($0)" },
      uv: unsafe String(cString: uv_version_string()), lmdb: loadedLMDB,
      zlib: unsafe String(cString: zlibVersion()), hasNTLM: LoadedCurl.hasNTLM)
  }

  private static var loadedLMDB: String {
    var (major, minor, patch): (Int32, Int32, Int32) = (0, 0, 0)
    unsafe _ = mdb_version(&major, &minor, &patch)
    return "\(major).\(minor).\(patch)"
  }
}

/// What the libcurl that is loaded can do, which need not be the one that the program was built with.
enum LoadedCurl {
  /// True when it can answer NTLM; newer distributions build it without.
  static var hasNTLM: Bool { unsafe (info?.features ?? 0) & CURL_VERSION_NTLM != 0 }

  /// `0x08_05_00` is 8.5.0.
  static var version: UInt32 { unsafe info?.version_num ?? 0 }

  /// The seventh edition of the structure is the first with nghttp2, and older than any libcurl we run with.
  static var info: curl_version_info_data? {
    unsafe curl_version_info(CURLVERSION_SEVENTH).map { unsafe $0.pointee }
  }

  static func text(_ words: UnsafePointer<CChar>?) -> String? {
    unsafe words.map { unsafe String(cString: $0) }
  }
}

/// What libcurl has brought along, which NetSpool is not linked to.
enum LoadedLibraries {
  /// The function of a name; nil where no library that is loaded has it.
  static func function<Function>(_ name: String, as: Function.Type) -> Function? {
    guard let address = unsafe dlsym(nil, name) else { return nil }
    return unsafe unsafeBitCast(address, to: Function.self)
  }
}

/// What must be so in the whole process before anything is opened or sent.
enum ProcessSetup {
  /// Any thread; the first call does it.
  static func begin() { _ = isDone }

  private static let isDone: Bool = {
    occupyStandardDescriptors()
    cnetspool_keep_openssl()
    _ = ForkGuard.begin()
    return true
  }()

  /// Where a program was started without standard input, output or error, the next file or socket would get its number:
  /// what the program prints would go there, and libuv takes no such number.
  private static func occupyStandardDescriptors() {
    for descriptor in Int32(0)...2 where fcntl(descriptor, F_GETFD) < 0 && errno == EBADF {
      guard unsafe open("/dev/null", O_RDWR) >= 0 else { return }
    }
  }
}

enum ProcessorCount {
  /// The number of the machine's processors that are at work.
  static var online: Int { max(1, sysconf(Int32(_SC_NPROCESSORS_ONLN))) }
}
