import Glibc

/// A C library that is looked for when it is needed, so that no program has to install its development files:
/// libcurl brings those along that are used here. Never unloaded.
@safe struct SystemLibrary {
  private let handle: UnsafeMutableRawPointer
  private let name: String

  /// The first of these names that the system knows.
  init(_ names: String...) throws(OriginError) {
    for name in names {
      if let handle = unsafe dlopen(name, RTLD_NOW | RTLD_LOCAL) {
        unsafe self.handle = unsafe handle
        self.name = name
        return
      }
    }
    throw OriginError(call: "dlopen(\(names[0]))", errno: ENOENT)
  }

  /// A function by its name. The caller says its type, and must be right: nothing checks it.
  func callAsFunction<Function>(_ symbol: String) throws(OriginError) -> Function {
    guard let address = unsafe dlsym(handle, symbol) else {
      throw OriginError(call: "dlsym(\(name), \(symbol))", errno: ENOENT)
    }
    return unsafe unsafeBitCast(address, to: Function.self)
  }
}
