import Testing

@testable import NetSpool
@testable import TestSupport

@Suite("Multipart bodies")
struct MultipartTests {
  @Test func `the bytes on the wire are those of RFC 7578`() throws {
    var multipart = Multipart()
    multipart.addData(Array("hello".utf8), forKey: "text")
    multipart.addData([0, 255], forKey: "b\"\n\r\nö", mimeType: "image/png", fileName: "a\"\r\n;é.png")
    multipart.addData([], forKey: "c", fileName: "")
    let bytes = try Self.body(multipart)
    let b = multipart.boundary
    let expected =
      Array(
        """
        --\(b)\r\nContent-Disposition: form-data; name="text"\r\n\r\nhello\r\n\
        --\(b)\r\nContent-Disposition: form-data; name="b%22%0D%0A%0D%0Aö"; filename="a%22%0D%0A;é.png"\r\n\
        Content-Type: image/png\r\n\r\n
        """.utf8) + [0, 255]
      + Array(
        """
        \r\n--\(b)\r\nContent-Disposition: form-data; name="c"; filename=""\r\n\
        Content-Type: application/octet-stream\r\n\r\n\r\n--\(b)--\r\n
        """.utf8)
    #expect(bytes == expected)
  }

  @Test(arguments: [1, 7, 64, 4096, 65_536])
  func `a receiver finds what was put in, whatever the read size`(bufferBytes: Int) throws {
    // Given: a file, and a field that holds the whole body of another form, boundary and all
    let directory = try TestFolder()
    let content = TestFiles.noise(10_000)
    var other = Multipart()
    other.addData(Array("inner".utf8), forKey: "x")
    let inner = try Self.body(other)
    var multipart = Multipart()
    multipart.addFile(try directory.write("photo.png", content), forKey: "photo", mimeType: "image/png")
    multipart.addData(inner, forKey: "other")
    multipart.addFile(try directory.write("empty", []), forKey: "empty")
    multipart.addData(Array("\r\n--\(multipart.boundary.dropLast())".utf8), forKey: "near")
    let source = MultipartSource(try multipart.layout())
    defer { source.close() }
    try source.open()
    let bytes = try drain(source, bufferBytes: bufferBytes)
    #expect(source.length == Int64(bytes.count))
    let parts = try ParsedPart.parse(bytes, boundary: multipart.boundary)
    #expect(parts.map(\.name) == ["photo", "other", "empty", "near"])
    #expect(parts.map(\.fileName) == ["photo.png", nil, "empty", nil])
    #expect(parts.map(\.type) == ["image/png", nil, "application/octet-stream", nil])
    #expect(parts[0].content == content)
    #expect(parts[1].content == inner)
    #expect(parts[2].content.isEmpty)
  }

  @Test func `a rewound source gives the same bytes, from any point`() throws {
    let directory = try TestFolder()
    var multipart = Multipart()
    multipart.addData([1, 2, 3], forKey: "a")
    multipart.addFile(try directory.write("f", Array(0...200)), forKey: "f")
    let source = MultipartSource(try multipart.layout())
    defer { source.close() }
    try source.open()
    let whole = try drain(source)
    for count in stride(from: 1, through: whole.count, by: 13) {
      source.rewind()
      #expect(try read(source, count).bytes == Array(whole[..<count]))
    }
    source.rewind()
    #expect(try drain(source) == whole)
  }

  @Test func `the length of a sparse 4 GiB file is known without reading it`() throws {
    let directory = try TestFolder()
    let path = try directory.write("huge", [])
    let file = try FileDescriptor(opening: path, flags: 1 /* O_WRONLY */)
    _ = try put([1], file, at: 4 << 30)
    var multipart = Multipart()
    multipart.addFile(path, forKey: "f")
    #expect(try multipart.layout().length > 4 << 30)
  }

  @Test func `boundaries are random, legal, and 128 bits strong`() {
    let boundaries = Set((0..<1000).map { _ in Multipart().boundary })
    #expect(boundaries.count == 1000)
    #expect(boundaries.allSatisfy { $0.utf8.count == 41 && $0.utf8.allSatisfy(\.isTokenByte) })
    var numbers = SplitMix64(seed: 1)
    var again = SplitMix64(seed: 1)
    #expect(Multipart(using: &numbers).boundary == Multipart(using: &again).boundary)
  }

  @Test func `a missing or edited file fails the request before its first byte, though it is the last part`()
    throws
  {
    let directory = try TestFolder()
    var multipart = Multipart()
    multipart.addData([1], forKey: "a")
    multipart.addFile("\(directory.path)/absent", forKey: "f")
    #expect(failure { _ = try multipart.layout() }?.code == .uploadSourceFailed)

    multipart.parts[1].content = .file(try directory.write("f", [1, 2, 3]))
    let source = MultipartSource(try multipart.layout())
    try directory.write("f", [1, 2, 3, 4])
    let edited = failure { try source.open() }
    #expect(edited?.code == .uploadSourceFailed && edited?.reason == "changed")
  }

  @Test func `no name and no type can add a header field`() throws {
    for (name, type) in [("a\0", nil), ("a", "x/y\r\nX: y")] as [(String, String?)] {
      var multipart = Multipart()
      multipart.addData([], forKey: name, mimeType: type)
      #expect(failure { _ = try multipart.layout() }?.code == .invalidRequest)
    }
  }

  private static func body(_ multipart: Multipart) throws -> [UInt8] {
    try drain(MultipartSource(try multipart.layout()))
  }
}

/// What an origin would read; written from RFC 2046 section 5.1.1, not from our writer.
struct ParsedPart {
  var head: String
  var content: [UInt8]
  var name: String? { value("; name=\"") }
  var fileName: String? { value("; filename=\"") }
  var type: String? { value("Content-Type: ") }

  static func parse(_ body: [UInt8], boundary: String) throws -> [ParsedPart] {
    let boundary = Array("--\(boundary)".utf8)
    var parts: [ParsedPart] = []
    var rest = body[...]
    try #require(rest.starts(with: boundary))
    rest = rest.dropFirst(boundary.count)
    while !rest.starts(with: "--\r\n".utf8) {
      rest = rest.dropFirst(2)
      let head = try #require(rest.firstRange(of: Array("\r\n\r\n".utf8)))
      let end = try #require(rest.firstRange(of: Array("\r\n".utf8) + boundary))
      parts.append(
        ParsedPart(
          head: String(decoding: rest[..<head.lowerBound], as: UTF8.self),
          content: Array(rest[head.upperBound..<end.lowerBound])))
      rest = rest[end.upperBound...]
    }
    #expect(rest.count == 4)
    return parts
  }

  private func value(_ mark: String) -> String? {
    guard let range = head.firstRange(of: mark) else { return nil }
    return String(head[range.upperBound...].prefix { $0 != "\"" && $0 != "\r\n" })
  }
}
