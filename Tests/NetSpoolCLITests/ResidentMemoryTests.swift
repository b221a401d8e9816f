import Testing

@testable import NetSpoolCLI

@Suite struct ResidentMemoryTests {
  @Test(
    arguments: [
      ("7f00-7f10 r-xp 00001000 fe:00 42                         /usr/lib/libc.so.6", 0x7F00..<0x7F10),
      ("7f00-7f10 r--p 00001000 fe:00 42                         /usr/lib/libc.so.6", nil),
      ("7f00-7f10 rwxp 00001000 fe:00 42                         /usr/lib/libc.so.6", nil),
      ("7f00-7f10 r-xp 00000000 00:00 0                          [vdso]", nil),
      ("7f00-7f10 r-xp 00000000 00:00 0", nil),
      ("", nil),
    ] as [(String, Range<UInt>?)])
  func onlyCodeOfFilesIsGivenBack(line: String, range: Range<UInt>?) {
    #expect(ResidentMemory.codeRange(Substring(line)) == range)
  }
}
