internal import CFuzz

/// `Fuzz TARGET [libFuzzer's arguments]`. The entry point has the name that SwiftPM links `main` to.
@_cdecl("Fuzz_main")
func fuzzMain(_ count: Int32, _ arguments: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>) -> Int32 {
  let name = count > 1 ? unsafe arguments[1].map { unsafe String(cString: $0) } ?? "" : ""
  if name == "samples", count == 3, let folder = unsafe arguments[2] {
    Samples.write(to: unsafe String(cString: folder))
    return 0
  }
  guard FuzzTarget.choose(name) else {
    print(FuzzTarget.all.map(\.name).joined(separator: "\n"))
    return name == "list" ? 0 : 64
  }
  // libFuzzer must not take the name for a corpus.
  unsafe arguments[1] = arguments[0]
  var (rest, words) = unsafe (count - 1, Optional(arguments + 1))
  return unsafe withUnsafeMutablePointer(to: &words) { words in
    unsafe words.withMemoryRebound(to: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>.self, capacity: 1) {
      unsafe LLVMFuzzerRunDriver(&rest, $0, runOne)
    }
  }
}

/// libFuzzer's linker flag asks for this name, although `main` is ours.
@_cdecl("LLVMFuzzerTestOneInput")
func runOne(_ bytes: UnsafePointer<UInt8>?, _ count: Int) -> Int32 {
  FuzzTarget.run(unsafe Array(UnsafeBufferPointer(start: bytes, count: count)))
  return 0
}
