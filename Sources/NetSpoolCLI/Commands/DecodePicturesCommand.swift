#if Images
import ArgumentParser
import Glibc
import NetSpool
import NetSpoolImages

/// `netspool decode-pictures`: `fetch --thumbnail` starts it, and no user does. Answers questions on its standard input
/// until that ends: see `PictureWire`.
struct DecodePicturesCommand: ParsableCommand {
  static let name = "decode-pictures"
  static let configuration = CommandConfiguration(
    commandName: name, abstract: "Decode pictures for fetch --thumbnail.", shouldDisplay: false)

  /// Bytes of addresses: a decoder that wants more is refused them. Twice what the largest picture takes that is let in.
  private static let addressesMax: rlim_t = 3 << 30

  func run() throws {
    rlimit.set(RLIMIT_AS, Self.addressesMax)
    rlimit.set(RLIMIT_CORE, 0)
    do throws(IOFailure) { try answerAll() } catch { throw ExitCode(JobStatus.localIO.code) }
  }

  private func answerAll() throws(IOFailure) {
    let input = Descriptor(borrowing: 0, named: "standard input")
    let output = Descriptor(borrowing: 1, named: "standard output")
    let decoder = LibraryDecoder { .seconds(ProcessUsage.seconds) }
    while let words = try read(PictureWire.questionBytes, from: input),
      let (count, transform, limits) = PictureWire.question(words), let bytes = try read(count, from: input)
    {
      do throws(PictureRejection) {
        let picture = try decoder.make(ResponseBytes(bytes), transform, limits) { false }
        try? output.write(PictureWire.answer(picture) + picture.bytes)
      } catch { try? output.write(PictureWire.answer(error)) }
    }
  }

  /// Nil at the end of input.
  private func read(_ count: Int, from input: borrowing Descriptor) throws(IOFailure) -> [UInt8]? {
    var bytes = [UInt8](repeating: 0, count: count)
    var got = 0
    while got < count {
      let more = try input.read(into: &bytes, at: got, count: count - got)
      if more == 0 { return nil }
      got += more
    }
    return bytes
  }
}
#endif
