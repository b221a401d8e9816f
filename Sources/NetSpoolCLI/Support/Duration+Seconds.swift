extension Duration {
  /// As the number that reports and options show.
  var seconds: Double { Double(components.seconds) + Double(components.attoseconds) / 1e18 }

  /// Whole microseconds.
  var microseconds: Int64 { components.seconds * 1_000_000 + components.attoseconds / 1_000_000_000_000 }
}
