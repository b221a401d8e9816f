import Testing

@testable import NetSpool

@Suite("Which addresses are public")
struct InternetAddressTests {
  @Test(
    arguments: [
      ([0, 0, 0, 0], false), ([10, 1, 2, 3], false), ([100, 64, 0, 1], false), ([100, 128, 0, 1], true),
      ([127, 0, 0, 1], false), ([127, 255, 255, 255], false), ([128, 0, 0, 1], true),
      ([169, 254, 169, 254], false), ([172, 15, 0, 1], true), ([172, 16, 0, 1], false),
      ([172, 31, 255, 255], false), ([172, 32, 0, 1], true), ([192, 0, 0, 1], false),
      ([192, 0, 2, 1], false), ([192, 168, 0, 1], false), ([192, 169, 0, 1], true), ([198, 18, 0, 1], false),
      ([198, 19, 0, 1], false), ([198, 20, 0, 1], true), ([198, 51, 100, 1], false),
      ([203, 0, 113, 1], false), ([224, 0, 0, 1], false), ([255, 255, 255, 255], false),
      ([8, 8, 8, 8], true), ([93, 184, 215, 14], true),
    ] as [([UInt8], Bool)]) func `of four bytes`(_ bytes: [UInt8], _ isPublic: Bool)
  {
    #expect(InternetAddress(bytes)?.isPublic == isPublic)
    // The same inside IPv6.
    let zeros = [UInt8](repeating: 0, count: 10)
    let mapped: [UInt8] = zeros + [0xFF, 0xFF] + bytes
    var translated: [UInt8] = [0, 0x64, 0xFF, 0x9B]
    translated += zeros.dropLast(2) + bytes
    #expect(
      InternetAddress(mapped)?.isPublic == isPublic && InternetAddress(translated)?.isPublic == isPublic)
    // 6to4 hides one as well, and is nobody's any more.
    var hidden: [UInt8] = [0x20, 0x02]
    hidden += bytes + zeros
    #expect(InternetAddress(hidden)?.isPublic == false)
  }

  @Test(
    arguments: [
      ([0x20, 0x01, 0x48, 0x60], true), ([0x2A, 0, 0, 0], true), ([0x20, 0x01, 0x0D, 0xB8], false),
      ([0x20, 0x01, 0, 0], false), ([0x20, 0x01, 0x02, 0], true), ([0xFC, 0, 0, 0], false),
      ([0xFD, 0, 0, 0], false), ([0xFE, 0x80, 0, 0], false), ([0xFF, 0x02, 0, 0], false),
      ([0, 0, 0, 0], false), ([0x3F, 0xFF, 0, 0], false),
    ] as [([UInt8], Bool)]) func `of sixteen bytes`(_ beginning: [UInt8], _ isPublic: Bool)
  {
    let bytes = beginning + [UInt8](repeating: 0, count: 11) + [1]
    #expect(InternetAddress(bytes)?.isPublic == isPublic)
  }

  @Test func `is nothing else`() {
    for count in 0...20 where count != 4 && count != 16 {
      #expect(InternetAddress([UInt8](repeating: 8, count: count)) == nil)
    }
  }

  @Test(arguments: [
    ("http://p:3128", "http://p:3128"), ("p:3128", "http://p:3128"), ("https://p", "https://p:443"),
    ("socks5h://p", "socks5h://p:1080"), ("http://p/", "http://p:80"), ("http://[::1]:1", "http://[::1]:1"),
  ]) func `proxies are read`(_ text: String, _ url: String) throws {
    let proxy = try ProxyParser.parse(text)
    #expect(proxy.url == url && proxy.account == nil)
  }

  @Test func `proxies keep their secret aside`() throws {
    let proxy = try ProxyParser.parse("http://user:p%40ss@p:1")
    #expect(proxy.url == "http://p:1" && proxy.account?.user == "user")
    #expect(proxy.account?.password.revealed == "p@ss")
  }
}
