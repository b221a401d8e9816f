import NetSpoolTesting
import Testing

@Suite("JSON for answers")
struct AnswerJSONTests {
  @Test func `is written as Swift`() {
    let value: AnswerJSON = ["id": 7, "tags": ["a\n\"", true, .null, 1.5], "empty": [:], "none": []]
    #expect(value.text == #"{"id":7,"tags":["a\n\"",true,null,1.5],"empty":{},"none":[]}"#)
    #expect(AnswerJSON(reading: value.text) == value)
    #expect(value["id"]?.int == 7 && value["tags"]?.elements.first?.string == "a\n\"")
  }

  @Test(arguments: [
    "", "{", "[1,]", "{\"a\"}", "nul", "01x", "\"a", "\"\\u12\"", "[1] 2", "\"\u{1}\"",
    String(repeating: "[", count: 300),
    "01", "-01", "+5", "1.", ".5", "-.5", "1.e5", "--1", "-", "0x1", "nan",
  ])
  func `what is none is refused`(text: String) { #expect(AnswerJSON(reading: text) == nil) }

  @Test func `escapes are read`() {
    #expect(AnswerJSON(reading: #" "\u00e4\ud83d\ude00\/\b" "#)?.string == "ä😀/\u{8}")
    #expect(AnswerJSON(reading: "[ 1 , -2.5e1 ]") == [1, -25.0])
  }

  @Test func `numbers of every form are read`() {
    let read = AnswerJSON(reading: "[0, -7, 10, 0.25, -0.5, 1e2, 1E+2, 25e-1]")
    #expect(read == [0, -7, 10, 0.25, -0.5, 100.0, 100.0, 2.5])
  }

  @Test func `answers carry their type`() {
    let answer = Answer.json(["a": 1], status: 201)
    #expect(answer.status == 201 && answer.headers.first("content-type") == "application/json")
  }
}
