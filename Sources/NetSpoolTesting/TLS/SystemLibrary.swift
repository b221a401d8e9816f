import Glibc
import Synchronization

/// A C library that is looked for when it is needed, so that no program has to install its development files:
/// libcurl brings those along that are used here. Never unloaded.
final class SystemLibrary: Sendable {
  /// The address that dlopen(3) gave.
  private let handle: UInt
  private let name: String
  private let prefix: String
  /// What was not there, the first of it.
  private let failure: Mutex<OriginError?>

  /// The first of these names that the system knows.
  /// - Parameter prefix: what all its functions begin with.
  init(_ names: String..., prefix: String = "") {
    self.prefix = prefix
    let found = names.lazy.map { ($0, UInt(bitPattern: unsafe dlopen($0, RTLD_NOW | RTLD_LOCAL))) }.first {
      $0.1 != 0
    }
    (name, handle) = found ?? (names[0], 0)
    failure = Mutex(found == nil ? OriginError(call: "dlopen(\(names[0]))", errno: ENOENT) : nil)
  }

  /// A function by its name without the prefix. The caller says its type, and must be right: nothing checks it. One that
  /// is not there must not be called, as ``check()`` says.
  func callAsFunction<Function>(_ symbol: String) -> Function {
    let symbol = prefix + symbol
    if let address = unsafe dlsym(UnsafeMutableRawPointer(bitPattern: handle), symbol) {
      return unsafe unsafeBitCast(address, to: Function.self)
    }
    failure.withLock { $0 = $0 ?? OriginError(call: "dlsym(\(name), \(symbol))", errno: ENOENT) }
    let missing: @convention(c) () -> Void = { fatalError("a function of a system library is not there") }
    return unsafe unsafeBitCast(missing, to: Function.self)
  }

  /// Throws when the library, or a function that was asked for, is not there.
  func check() throws(OriginError) { if let failure = failure.withLock(\.self) { throw failure } }
}
