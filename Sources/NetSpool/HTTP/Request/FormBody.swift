/// A name with its value, as a query, a form or a flat JSON object carries it. Order and repeats count.
struct Parameter: Hashable, Sendable {
  var name: String
  var value: String

  init(_ name: String, _ value: String) {
    self.name = name
    self.value = value
  }
}

/// `application/x-www-form-urlencoded` (WHATWG URL, section 5.2), the default for parameters of a POST.
enum FormBody {
  static let contentType = "application/x-www-form-urlencoded"

  static func encode(_ parameters: [Parameter]) -> [UInt8] {
    var output: [UInt8] = []
    for parameter in parameters {
      if !output.isEmpty { output.append(UInt8(ascii: "&")) }
      PercentCoding.appendForm(parameter.name, to: &output)
      output.append(UInt8(ascii: "="))
      PercentCoding.appendForm(parameter.value, to: &output)
    }
    return output
  }
}
