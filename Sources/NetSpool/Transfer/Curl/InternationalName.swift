internal import Glibc

/// Host names beyond ASCII, as the name system has them: `bücher.example` is `xn--bcher-kva.example` (UTS 46,
/// non-transitional, as in browsers).
///
/// libidn2 does it, which libcurl brings along. libcurl's own use of it goes by the locale, and a service has none.
enum InternationalName {
  private typealias ToASCII =
    @convention(c) (
      UnsafePointer<CChar>, UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>, CInt
    ) -> CInt

  // IDN2_NONTRANSITIONAL, IDN2_TRANSITIONAL and IDN2_DISALLOWED of idn2.h.
  private static let nontransitional: CInt = 8
  private static let transitional: CInt = 4
  private static let disallowed: CInt = -304

  private static let toASCII: ToASCII? = {
    guard let library = unsafe dlopen("libidn2.so.0", RTLD_NOW | RTLD_LOCAL),
      let symbol = unsafe dlsym(library, "idn2_to_ascii_8z")
    else { return nil }
    return unsafe unsafeBitCast(symbol, to: ToASCII.self)
  }()

  static var isSupported: Bool { unsafe toASCII != nil }

  /// Throws `.invalidURL` for what no name is, and without libidn2.
  static func ascii(_ name: [UInt8]) throws(NetworkError) -> [UInt8] {
    guard isSupported else { throw URLParser.refused("a host beyond ASCII needs libidn2") }
    guard !name.contains(0), let name = String(validating: name, as: UTF8.self) else {
      throw URLParser.refused("the host is not UTF-8")
    }
    var (code, ascii) = converted(name, nontransitional)
    // IDNA 2008 has no symbols, such as emoji; browsers do, and the older table maps them alike.
    if code == disallowed, !holdsDeviation(name) { (code, ascii) = converted(name, transitional) }
    guard code == 0, !ascii.isEmpty else { throw URLParser.refused("the host is no international name") }
    return ascii
  }

  private static func converted(_ name: String, _ flags: CInt) -> (code: CInt, ascii: [UInt8]) {
    guard let toASCII = unsafe toASCII else { return (disallowed, []) }
    var output: UnsafeMutablePointer<CChar>?
    let code = unsafe toASCII(name, &output, flags)
    guard let text = unsafe output else { return (code, []) }
    defer { unsafe free(text) }
    return (code, Array(unsafe String(cString: text).utf8))
  }

  /// The four letters that the older table maps to others: sharp s, final sigma and the two joiners.
  private static func holdsDeviation(_ name: String) -> Bool {
    name.unicodeScalars.contains { [0xDF, 0x1E9E, 0x3C2, 0x200C, 0x200D].contains($0.value) }
  }
}
