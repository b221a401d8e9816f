import Testing

@testable import NetSpoolCLI
@testable import TestSupport

@Suite struct ResidentMemoryTests {
  private static let library = "                     /usr/lib/libc.so.6"

  @Test(
    arguments: [
      ("7f00-7f10 r-xp 00001000 fe:00 42" + library, "0", "0", true),
      ("7f00-7f10 r--p 00001000 fe:00 42" + library, "0", "0", true),
      ("7f00-7f10 r--p 00001000 fe:00 42" + library, "4", "0", false),
      ("7f00-7f10 r--p 00001000 fe:00 42" + library, "0", "4", false),
      ("7f00-7f10 rw-p 00001000 fe:00 42" + library, "0", "0", false),
      ("7f00-7f10 rwxp 00001000 fe:00 42" + library, "0", "0", false),
      ("7f00-7f10 r--s 00001000 fe:00 42" + library, "0", "0", false),
      ("7f00-7f10 r-xp 00000000 00:00 0                          [vdso]", "0", "0", false),
      ("7f00-7f10 r-xp 00000000 00:00 0", "0", "0", false),
    ])
  func `only clean pages of files are given back`(
    head: String, anonymous: String, swapped: String, isGiven: Bool
  ) {
    let lines = [
      head, "Rss:                   8 kB", "Anonymous:             \(anonymous) kB",
      "Swap:                  \(swapped) kB", "VmFlags: rd mr mw me",
    ]
    #expect(
      ResidentMemory.cleanRanges(lines.map { Array($0.utf8)[...] }) == (isGiven ? [0x7F00..<0x7F10] : []))
  }

  @Test func `what is not understood is left alone`() {
    let lines = ["", "nonsense", "Anonymous: 0 kB", "Swap: 0 kB"]
    #expect(ResidentMemory.cleanRanges(lines.map { Array($0.utf8)[...] }) == [])
  }

  @Test func `less is resident and the program goes on`() async {
    await #expect(processExitsWith: .success) {
      let before = MemoryUse.ofFiles
      ResidentMemory.shrink()
      let after = MemoryUse.ofFiles
      precondition(after > 0 && after < before, "\(before) before, \(after) after")
    }
  }
}
