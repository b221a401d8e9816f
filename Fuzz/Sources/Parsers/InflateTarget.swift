internal import CNetSpoolZlib

@testable import NetSpool

/// Compressed bodies: hostile ones, and those that zlib itself packed.
///
/// Input: a byte of choices, the size of the pieces, and the body.
enum InflateTarget {
  static func run(_ bytes: [UInt8]) {
    var input = InputReader(bytes)
    let choices = input.byte()
    let piece = input.number(below: 64) + 1
    let coding: ContentDecoder.Coding = choices & 1 == 0 ? .gzip : .deflate
    let body = Array(input.rest)
    if choices & 2 == 0 {
      let whole = decode(body, coding, pieces: body.count + 1)
      let parts = decode(body, coding, pieces: piece)
      // How far a body has unfolded is looked at whenever some of it has, so the limit may strike elsewhere.
      if parts.failure.hasPrefix("decompressionLimit") || whole.failure.hasPrefix("decompressionLimit") {
        return
      }
      require(parts.failure == whole.failure, "pieces end as the whole: \(parts.failure), \(whole.failure)")
      require(parts.failure != "" || parts.bytes == whole.bytes, "pieces give what the whole does")
    } else {
      checkPacked(body, choices & 1 == 0 ? 31 : choices & 4 == 0 ? 15 : -15, coding, piece)
    }
  }

  private static let limits = {
    var limits = DecodingLimits()
    limits.ratioFreeBytes = 64 << 10
    limits.decodedBytesMax = 1 << 20
    return limits
  }()

  private static func decode(
    _ body: [UInt8], _ coding: ContentDecoder.Coding, pieces count: Int
  ) -> (bytes: [UInt8], failure: String) {
    let decoder = ContentDecoder(coding, limits: limits)
    var output: [UInt8] = []
    // Every other piece is the last that is taken for now.
    func decode(_ bytes: [UInt8]) throws {
      try decoder.decode(bytes.rawBytes) {
        output.append($0)
        return output.count & 1 == 0
      }
    }
    do {
      var rest = body[...]
      while !rest.isEmpty {
        try decode(Array(rest.prefix(count)))
        rest = rest.dropFirst(count)
      }
      while decoder.isHeldUp { try decode([]) }
      try decoder.finish()
      require(decoder.bytesDecoded == output.count, "what was decoded is counted")
      return (output, "")
    } catch {
      require(output.count <= 1 << 20, "no more comes out than is allowed")
      return (output, (error as? NetworkError).map { "\($0.code) \($0.reason ?? "")" } ?? "other")
    }
  }

  /// What zlib packed comes out as it was, and nothing less proves its end.
  private static func checkPacked(
    _ body: [UInt8], _ wrapping: CInt, _ coding: ContentDecoder.Coding, _ piece: Int
  ) {
    let packed = Deflater.pack(body, wrapping)
    let result = decode(packed, coding, pieces: piece)
    require(result.failure == "" && result.bytes == body, "what was packed is unpacked: \(result.failure)")
    let cut = decode(packed.dropLast(), coding, pieces: piece)
    require(cut.failure != "", "what lacks a byte is not whole")
  }

  private static func decode(
    _ body: ArraySlice<UInt8>, _ coding: ContentDecoder.Coding, pieces: Int
  ) -> (bytes: [UInt8], failure: String) {
    decode(Array(body), coding, pieces: pieces)
  }
}

private enum Deflater {
  static func pack(_ body: [UInt8], _ wrapping: CInt) -> [UInt8] {
    var stream = unsafe z_stream()
    let size = unsafe CInt(MemoryLayout<z_stream>.size)
    let status = unsafe deflateInit2_(
      &stream, 6, Z_DEFLATED, wrapping, 8, Z_DEFAULT_STRATEGY, ZLIB_VERSION, size)
    precondition(status == Z_OK, "zlib has no memory")
    defer { unsafe deflateEnd(&stream) }
    var (input, output) = (body, [UInt8](repeating: 0, count: body.count + body.count / 100 + 64))
    let room = output.count
    unsafe input.withUnsafeMutableBufferPointer { input in
      unsafe output.withUnsafeMutableBufferPointer { output in
        unsafe stream.next_in = input.baseAddress
        unsafe stream.avail_in = uInt(input.count)
        unsafe stream.next_out = output.baseAddress
        unsafe stream.avail_out = uInt(room)
        precondition(unsafe deflate(&stream, Z_FINISH) == Z_STREAM_END, "zlib has no room")
      }
    }
    return Array(output.prefix(unsafe room - Int(stream.avail_out)))
  }
}
