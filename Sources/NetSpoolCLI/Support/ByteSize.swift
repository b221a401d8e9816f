/// An amount of bytes as people write it: `500`, `10k`, `1.5MiB`, `2G`. Units are binary: `k` is 1,024.
struct ByteSize: Equatable {
  let bytes: Int64

  init(bytes: Int64) { self.bytes = bytes }

  /// Nil for anything that is not a positive amount of at least one byte.
  init?(_ text: String) {
    guard let (amount, unit) = splitAmount(text), let factor = Self.factor(unit) else { return nil }
    let bytes = amount * factor
    guard bytes >= 1, bytes < 0x1p62 else { return nil }
    self.bytes = Int64(bytes)
  }

  private static func factor(_ unit: String) -> Double? {
    switch unit {
    case "", "b": 1
    case "k", "kb", "kib": 0x1p10
    case "m", "mb", "mib": 0x1p20
    case "g", "gb", "gib": 0x1p30
    case "t", "tb", "tib": 0x1p40
    default: nil
    }
  }
}

/// Splits `1.5MiB` to 1.5 and `mib`. Nil when it does not begin with a plain, finite, unsigned number.
func splitAmount(_ text: String) -> (amount: Double, unit: String)? {
  let digits = text.prefix { $0.isASCII && ($0.isNumber || $0 == ".") }
  guard let first = digits.first, first != ".", let amount = Double(digits), amount.isFinite else {
    return nil
  }
  return (amount, text.dropFirst(digits.count).lowercased())
}
