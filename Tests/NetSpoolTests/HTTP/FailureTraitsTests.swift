import Testing

@testable import NetSpool

/// The one table that says what each failure means: its columns do not contradict each other.
@Suite struct FailureTraitsTests {
  static let codes = NetworkError.Code.Word.allCases.map { NetworkError.Code($0) }

  @Test(arguments: FailureTraitsTests.codes) func `no trait contradicts another`(code: NetworkError.Code) {
    let traits = code.traits
    let isMended = traits.contains(.isTransient)
    #expect(!(isMended && traits.contains(.recurs)), "what another attempt may mend recurs")
    #expect(!(isMended && traits.contains(.isLasting)), "what another attempt may mend lasts")
    #expect(!traits.contains(.isLasting) || traits.contains(.recurs), "what lasts does not recur")
    #expect(code.stage == .elsewhere || !traits.contains(.isLocal), "a disk failed on the way there")
  }

  @Test func `a name, a connection and a route are what an offline machine lacks`() {
    let offline = Self.codes.filter { NetworkError($0).isOffline }
    #expect(Set(offline) == [.offline, .resolveFailed, .connectFailed])
    #expect(NetworkError(.timedOut, cause: .connect).isOffline)
  }
}
