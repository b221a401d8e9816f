/// Header fields as the lines that libcurl sends (CURLOPT_HTTPHEADER).
enum HeaderLines {
  /// For a request without fields and body of its own: `User-Agent` and `Accept-Encoding` are the handle's.
  static func plain(_ defaults: HeaderFields) -> [String] {
    defaults.filter { !$0.isNamed("User-Agent") }.map(line)
  }

  static func make(defaults: HeaderFields, own: HeaderFields, decodes: Bool, hasBody: Bool) -> [String] {
    var lines: [String] = []
    for field in defaults where !own.contains(field.name) { lines.append(line(field)) }
    for field in own { lines.append(line(field)) }
    // A name without a value removes the field that libcurl would add by itself: its offer of codings, and
    // the form that it takes every POST for.
    if !decodes, !own.contains("Accept-Encoding") { lines.append("Accept-Encoding:") }
    if hasBody, !own.contains("Content-Type"), !defaults.contains("Content-Type") { lines.append("Content-Type:") }
    return lines
  }

  /// A field without a value is written with a semicolon; with a colon libcurl would remove it.
  private static func line(_ field: HeaderFields.Field) -> String {
    field.valueBytes.isEmpty ? field.name + ";" : "\(field.name): \(field.value)"
  }
}
