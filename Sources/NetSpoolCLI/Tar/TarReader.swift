/// Walks through the members of a tar file without reading their bodies. Holds one window of the file.
final class TarReader {
  struct Member: Equatable {
    let header: TarHeader
    /// Where its body begins, and where the next member does.
    let body: Int64
    let end: Int64
  }

  enum Step: Equatable {
    case member(Member)
    /// Blocks of zeros: the tar is whole.
    case end
    /// The file stops before they come, at a member's end or inside one.
    case cut
    /// What stands there is no member.
    case damaged
  }

  /// Names and records longer than this come from no tool.
  static let extraBytesMax: Int64 = 1 << 20

  let bytes: Int64
  private let file: Descriptor
  private var offset: Int64 = 0
  private var window: [UInt8]
  private var windowStart: Int64 = 0
  private var windowCount = 0

  init(_ path: String) throws(IOFailure) {
    file = try Descriptor(opening: path, 0)
    guard let status = file.status else { throw .last("look at", path) }
    bytes = Int64(status.size)
    window = [UInt8](repeating: 0, count: 64 << 10)
  }

  func next() throws(IOFailure) -> Step {
    var extras: [(kind: TarHeader.Kind, bytes: ArraySlice<UInt8>)] = []
    while true {
      guard offset + Int64(TarHeader.blockBytes) <= bytes else { return .cut }
      switch TarHeader.parse(try read(TarHeader.blockBytes, at: offset)) {
      case .end: return .end
      case .unknown: return .damaged
      case .header(var header):
        let isExtra = [.extended, .global, .longName].contains(header.kind)
        if !isExtra, !apply(extras, to: &header) { return .damaged }
        guard !isExtra || header.size <= Self.extraBytesMax else { return .damaged }
        let body = offset + Int64(TarHeader.blockBytes)
        guard header.size <= bytes - body, body + TarHeader.padded(header.size) <= bytes else { return .cut }
        offset = body + TarHeader.padded(header.size)
        guard isExtra else { return .member(Member(header: header, body: body, end: offset)) }
        extras.append((header.kind, try read(Int(header.size), at: body)))
      }
    }
  }

  private func apply(_ extras: [(kind: TarHeader.Kind, bytes: ArraySlice<UInt8>)], to header: inout TarHeader)
    -> Bool
  {
    for extra in extras {
      switch extra.kind {
      case .longName: header.name = String(decoding: extra.bytes.prefix { $0 != 0 }, as: UTF8.self)
      case .extended: guard header.take(pax: extra.bytes) else { return false }
      default: break
      }
    }
    return true
  }

  /// Bytes that the file has, which no process cuts meanwhile.
  func read(_ count: Int, at offset: Int64) throws(IOFailure) -> ArraySlice<UInt8> {
    if offset >= windowStart, offset + Int64(count) <= windowStart + Int64(windowCount) {
      let start = Int(offset - windowStart)
      return window[start..<start + count]
    }
    if count > window.count { window = [UInt8](repeating: 0, count: count) }
    (windowStart, windowCount) = (offset, 0)
    while windowCount < count {
      let got = try file.read(into: &window, at: windowCount, fileOffset: offset + Int64(windowCount))
      guard got > 0 else { throw IOFailure(action: "read", path: file.path, code: 5) }
      windowCount += got
    }
    return window[..<count]
  }
}
