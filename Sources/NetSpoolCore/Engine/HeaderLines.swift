/// Header fields as the lines that libcurl sends (CURLOPT_HTTPHEADER).
enum HeaderLines {
  /// What this build decodes; announced unless the caller says otherwise.
  static let acceptEncoding = "Accept-Encoding: " + ContentDecoder.acceptEncoding

  static func make(defaults: HeaderFields, own: HeaderFields, decodes: Bool, hasBody: Bool, expects: Bool = true)
    -> [String]
  {
    var lines: [String] = []
    for field in defaults where !own.contains(field.name) { lines.append(line(field)) }
    for field in own where expects || !isExpect(field.name) { lines.append(line(field)) }
    if decodes, !defaults.contains("Accept-Encoding") { lines.append(acceptEncoding) }
    // libcurl calls every POST a form unless it is told otherwise; an empty name removes its own line.
    if hasBody, !own.contains("Content-Type"), !defaults.contains("Content-Type") {
      lines.append("Content-Type:")
    }
    // libcurl asks by itself before long bodies and those of unknown length.
    if !expects { lines.append("Expect:") }
    return lines
  }

  private static func isExpect(_ name: String) -> Bool { name.lowercased() == "expect" }

  /// A field without a value is written with a semicolon; with a colon libcurl would remove it.
  private static func line(_ field: HeaderFields.Field) -> String {
    field.valueBytes.isEmpty ? field.name + ";" : "\(field.name): \(field.value)"
  }
}
