import Testing

@testable import NetSpool

/// The one table that says what each failure means: its columns do not contradict each other.
@Suite struct FailureTraitsTests {
  static let codes = NetworkError.Code.Word.allCases.map { NetworkError.Code($0) }

  @Test(arguments: FailureTraitsTests.codes)
  func `what another attempt may mend does not recur`(code: NetworkError.Code) {
    let traits = code.traits
    #expect(!(traits.contains(.isTransient) && traits.contains(.recurs)))
    #expect(!(traits.contains(.isTransient) && traits.contains(.isLasting)))
  }

  @Test(arguments: FailureTraitsTests.codes) func `what lasts recurs`(code: NetworkError.Code) {
    #expect(!code.traits.contains(.isLasting) || code.traits.contains(.recurs))
  }

  @Test(arguments: FailureTraitsTests.codes)
  func `what failed on the way there is no fault of this machine's disk`(code: NetworkError.Code) {
    #expect(code.stage == .elsewhere || !code.traits.contains(.isLocal))
  }

  @Test func `a name, a connection and a route are what an offline machine lacks`() {
    let offline = Self.codes.filter { NetworkError($0).isOffline }
    #expect(Set(offline) == [.offline, .resolveFailed, .connectFailed])
    #expect(NetworkError(.timedOut, cause: .connect).isOffline)
  }
}
