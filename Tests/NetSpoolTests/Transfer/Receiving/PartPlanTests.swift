import Testing

@testable import NetSpool

/// Whether an answer belongs to the part of a download that broke off.
@Suite struct PartPlanTests {
  struct Row: Sendable, CustomTestStringConvertible {
    let status: Int
    let fields: Headers
    var bytesExpected: Int64? = 91
    var plan: PartPlan? = PartPlanTests.plan
    let verdict: PartPlan.Verdict?
    var testDescription: String { "\(status) \(fields)" }
  }

  static let plan = PartPlan(bytes: 9 + PartPlan.comparedBytes, validator: "\"a\"", total: 100)

  static let rows: [Row] = [
    Row(
      status: 206, fields: ["Content-Range": "bytes 9-99/100", "ETag": "\"a\""],
      verdict: .goesOn(plan, total: 100)),
    Row(status: 206, fields: ["Content-Range": "bytes 9-99/*"], verdict: .goesOn(plan, total: 100)),
    Row(status: 206, fields: ["Content-Range": "bytes 10-99/100"], bytesExpected: 90, verdict: nil),
    Row(status: 206, fields: ["Content-Range": "bytes 9-98/100"], bytesExpected: 90, verdict: nil),
    Row(status: 206, fields: ["Content-Range": "bytes 9-100/101"], bytesExpected: 92, verdict: nil),
    Row(status: 206, fields: ["Content-Range": "bytes 9-99/100", "ETag": "\"b\""], verdict: nil),
    Row(status: 206, fields: ["Content-Range": "bytes 9-99/100"], bytesExpected: 5, verdict: nil),
    Row(status: 206, fields: ["Content-Range": "bytes 9-99/100", "Content-Encoding": "gzip"], verdict: nil),
    Row(status: 206, fields: ["Content-Range": "nonsense"], verdict: nil),
    Row(status: 206, fields: [:], verdict: nil),
    Row(status: 206, fields: ["Content-Range": "bytes 9-99/100"], plan: nil, verdict: nil),
    Row(
      status: 200, fields: ["ETag": "\"b\""], bytesExpected: 50,
      verdict: .begins(validator: "\"b\"", total: 50)),
    Row(
      status: 200, fields: ["ETag": "W/\"b\""], bytesExpected: 50, verdict: .begins(validator: nil, total: 50)
    ),
    Row(
      status: 200, fields: ["ETag": "\"b\"", "Content-Encoding": "gzip"],
      verdict: .begins(validator: nil, total: nil)),
    Row(
      status: 200,
      fields: ["Last-Modified": "Thu, 01 Jan 2026 00:00:00 GMT", "Date": "Thu, 01 Jan 2026 00:01:00 GMT"],
      verdict: .begins(validator: "Thu, 01 Jan 2026 00:00:00 GMT", total: 91)),
    Row(
      status: 200,
      fields: ["Last-Modified": "Thu, 01 Jan 2026 00:00:00 GMT", "Date": "Thu, 01 Jan 2026 00:00:59 GMT"],
      verdict: .begins(validator: nil, total: 91)),
    Row(status: 200, fields: [:], plan: nil, verdict: .begins(validator: nil, total: 91)),
  ]

  @Test(arguments: rows) func `an answer fits a part or does not`(row: Row) {
    let head = ResponseHead(version: .http11, status: row.status, headers: row.fields)
    let verdict = PartPlan.judge(head, bytesExpected: row.bytesExpected, row.plan)
    if let expected = row.verdict {
      #expect(verdict == expected)
    } else if case .mismatch = verdict {
    } else {
      Issue.record("\(verdict) instead of a mismatch")
    }
  }
}
