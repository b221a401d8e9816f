import Glibc
import Testing

@testable import NetSpool
@testable import TestSupport

@Suite("Sources of bodies")
struct BodySourceTests {
  @Test(arguments: 1...12)
  func `bytes come whole for every buffer size, twice`(bufferBytes: Int) throws {
    let source = BytesSource(Array(0..<10))
    #expect(source.length == 10)
    #expect(try drain(source, bufferBytes: bufferBytes) == Array(0..<10))
    source.rewind()
    #expect(try drain(source, bufferBytes: bufferBytes) == Array(0..<10))
  }

  @Test func `no body has no source; every other body gives the bytes it described`() throws {
    let parameters: NetworkRequest.Parameters = ["a": "b c"]
    let custom = NetworkRequest.Body.custom(contentType: "x/y") { [UInt8($0.count)] }
    let rows: [(NetworkRequest.Body, String?, [UInt8])] = [
      (.bytes([1, 2], contentType: nil), nil, [1, 2]),
      (.form(parameters), "application/x-www-form-urlencoded", Array("a=b+c".utf8)),
      (.json(Array("{}".utf8)), "application/json", Array("{}".utf8)), (custom, "x/y", [1]),
    ]
    for (body, type, bytes) in rows {
      let prepared = try body.prepared(with: parameters)
      let source = try #require(prepared.makeSource {})
      #expect(body.contentType == type)
      #expect(prepared.length == Int64(bytes.count))
      #expect(prepared.canReplay)
      #expect(try drain(source) == bytes)
    }
    #expect(try NetworkRequest.Body.none.prepared().makeSource {} == nil)
  }

  @Test func `an encoder that throws fails the request`() {
    struct Broken: Error {}
    let body = NetworkRequest.Body.custom(contentType: "x/y") { _ in throw Broken() }
    #expect(failure { _ = try body.prepared() }?.code == .invalidRequest)
  }
}

@Suite("Files as bodies")
struct FileSourceTests {
  private let directory: TestFolder

  init() throws { directory = try TestFolder() }

  private func source(_ path: String) throws -> any BodySource {
    try #require(try NetworkRequest.Body.file(path, contentType: nil).prepared().makeSource {})
  }

  @Test(arguments: [1, 3, 10, 64], [0, 10] as [UInt8])
  func `a file comes whole for every buffer size, and again after a rewind`(bufferBytes: Int, count: UInt8)
    throws
  {
    let bytes = Array(0..<count)
    let source = try source(try directory.write("f", bytes))
    defer { source.close() }
    #expect(source.length == Int64(count))
    try source.open()
    #expect(try drain(source, bufferBytes: bufferBytes) == bytes)
    try source.rewind()
    #expect(try drain(source, bufferBytes: bufferBytes) == bytes)
  }

  enum Edit: CaseIterable { case longer, shorter, sameSize, replaced }

  private func apply(_ edit: Edit) throws {
    switch edit {
    case .longer: try directory.write("f", [1, 2, 3, 4])
    case .shorter: try directory.write("f", [1])
    case .sameSize: try directory.write("f", [4, 5, 6])
    case .replaced:
      try directory.write("g", [1, 2, 3])
      try directory.touch("g", seconds: 1000)
      try directory.move("g", to: "f")
    }
  }

  @Test(arguments: Edit.allCases)
  func `an edit between enqueue and send is found before a byte is sent`(edit: Edit) throws {
    let path = try directory.write("f", [1, 2, 3])
    try directory.touch("f", seconds: 1000)
    let source = try source(path)
    defer { source.close() }
    try apply(edit)
    let failure = failure { try source.open() }
    #expect(failure?.code == .uploadSourceFailed && failure?.reason == "changed")
  }

  @Test(arguments: [
    (Edit.longer, NetworkError.Code.uploadLengthMismatch, "got 4, declared 3"),
    (.shorter, .uploadLengthMismatch, "got 1, declared 3"), (.sameSize, .uploadSourceFailed, "changed"),
  ])
  func `an edit while it is sent holds back the last byte`(
    edit: Edit, code: NetworkError.Code, reason: String
  ) throws {
    let path = try directory.write("f", [1, 2, 3])
    try directory.touch("f", seconds: 1000)
    let source = try source(path)
    defer { source.close() }
    try source.open()
    var sent = try read(source, 1).bytes
    #expect(sent == [1])
    try apply(edit)
    let failure = failure { sent += try drain(source, bufferBytes: 2) }
    #expect(failure?.code == code && failure?.reason == reason)
    #expect(sent.count < 3)
  }

  @Test func `missing, a directory, a FIFO: refused with the error number, without waiting`() throws {
    let fifo = try directory.write("fifo", [])
    try directory.replaceByFIFO("fifo")
    let rows = [
      ("\(directory.path)/absent", "missing", ENOENT), (directory.path, "notAFile", EINVAL),
      (fifo, "notAFile", EINVAL),
    ]
    for (path, reason, number) in rows {
      let failure = failure { _ = try source(path) }
      #expect(failure?.code == .uploadSourceFailed && failure?.reason == reason)
      #expect(failure?.underlying == .errno(number))
    }
  }

  @Test func `a FIFO or nothing in the place of the file does not hold the loop`() throws {
    let path = try directory.write("f", [1])
    let source = try source(path)
    defer { source.close() }
    try directory.replaceByFIFO("f")
    #expect(failure { try source.open() }?.reason == "changed")
    try directory.remove("f")
    #expect(failure { try source.open() }?.reason == "missing")
  }

  @Test func `a closed source has no descriptor left, and reading it fails`() throws {
    let source = try source(try directory.write("f", [1]))
    try source.open()
    source.close()
    let failure = failure { _ = try drain(source) }
    #expect(failure?.code == .uploadSourceFailed && failure?.underlying == .errno(EBADF))
  }
}

private func sevens(_ count: Int) -> UploadChunk { .bytes([UInt8](repeating: 7, count: count)) }

@Suite("Streams as bodies")
struct StreamSourceTests {
  @Test(
    arguments: [
      (3, [sevens(3), .end], nil), (3, [sevens(1), .pause, sevens(2), .end], nil),
      (3, [sevens(3), .pause], nil), (nil, [sevens(5), .end], nil), (0, [.end], nil),
      (3, [sevens(2), .end], "got 2, declared 3"), (3, [.end], "got 0, declared 3"),
      (3, [sevens(4)], "got at least 4, declared 3"),
      (3, [sevens(3), sevens(1)], "got more than 3, declared 3"),
    ] as [(Int64?, [UploadChunk], String?)])
  func `a stream is held to its declared length, and the last byte back until it is`(
    length: Int64?, reads: [UploadChunk], mismatch: String?
  ) throws {
    let script = ScriptedUpload(reads, length: length)
    let source = try #require(
      try NetworkRequest.Body.stream(script, contentType: nil).prepared().makeSource {})
    try source.open()
    var sent: Int64 = 0
    let failure = failure { while try Self.step(source, &sent) {} }
    #expect(failure?.reason == mismatch)
    #expect(failure == nil || failure?.code == .uploadLengthMismatch)
    if let length { #expect(mismatch == nil ? sent == length : sent < max(length, 1)) }
  }

  @Test func `a one-shot stream cannot be replayed, a rewound one counts from zero`() throws {
    let once = ScriptedUpload([], length: 1, isReopenable: false)
    #expect(!(try NetworkRequest.Body.stream(once, contentType: nil).prepared().canReplay))
    let script = ScriptedUpload([sevens(1), sevens(1)], length: 2)
    let source = try #require(PreparedBody.stream(script).makeSource {})
    try source.open()
    var sent: Int64 = 0
    #expect(try Self.step(source, &sent))
    try source.rewind()
    for _ in 0..<2 { #expect(try Self.step(source, &sent)) }
    #expect(sent == 3)
  }

  private static func step(_ source: any BodySource, _ sent: inout Int64) throws -> Bool {
    switch try read(source, 8).read {
    case .bytes(let count):
      sent += Int64(count)
      return true
    case .pause: return true
    case .end: return false
    }
  }
}
