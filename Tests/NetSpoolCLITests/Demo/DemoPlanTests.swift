import Testing

@testable import NetSpoolCLI

@Suite struct DemoPlanTests {
  @Test(arguments: [1, 8, 100, 3_000])
  func `every thumbnail is a file unless it is missing`(count: Int) {
    let plan = DemoPlan(count: count)
    let numbers = Set(plan.files.map(\.number))
    #expect(numbers.count == count - plan.missingCount)
    #expect(Set(plan.files.map(\.name)).count == plan.files.count)
    #expect(Set(plan.moreFiles.map(\.number)).isDisjoint(with: numbers))
  }

  @Test func `the usual demo has every kind of trouble`() {
    let plan = DemoPlan(count: 3_000)
    let fates = (0..<3_000).map(plan.fate)
    #expect(fates.count { $0 == .missing } == 6)
    #expect(fates.count { $0 == .busy } == 3)
    #expect(fates.contains(.cutOff))
    #expect(fates.contains { if case .slow = $0 { true } else { false } })
  }
}
