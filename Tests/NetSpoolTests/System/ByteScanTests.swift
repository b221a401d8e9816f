import Testing

@testable import NetSpool

@Suite struct ByteScanTests {
  @Test func `a token ends at the first byte that it may not hold, whatever and wherever that is`() {
    for length in 0...20 {
      for place in 0..<max(length, 1) {
        for byte in UInt8.min...UInt8.max {
          var line = [UInt8]("Content-Type-Options".utf8.prefix(length))
          if place < length { line[place] = byte }
          line += [UInt8](": value, and more\r\n".utf8)
          let expected = line.firstIndex { !$0.isTokenByte }!
          #expect(line.span.tokenEnd(before: line.count - 2) == expected)
          #expect(line.span.tokenEnd(before: min(expected, 3)) == min(expected, 3))
        }
      }
    }
  }

  @Test func `a span has as many microseconds as its parts, none below zero, and at most the longest`() {
    var numbers = SystemRandomNumberGenerator()
    for _ in 0..<10_000 {
      let seconds = Int64.random(in: 0..<1_000_000_000, using: &numbers)
      let attoseconds = Int64.random(in: 0..<1_000_000_000_000_000_000, using: &numbers)
      let span = Duration(secondsComponent: seconds, attosecondsComponent: attoseconds)
      #expect(span.microseconds == seconds * 1_000_000 + attoseconds / 1_000_000_000_000)
    }
    #expect(Duration.zero.microseconds == 0)
    #expect(Duration.seconds(-5).microseconds == 0)
    #expect(Duration.nanoseconds(999).microseconds == 0)
    #expect(Duration(secondsComponent: .max, attosecondsComponent: 0).microseconds == 1_000_000_000_000_000)
  }
}
