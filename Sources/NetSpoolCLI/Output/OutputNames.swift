/// Gives every line of the list a file name of its own.
///
/// Names depend on the list's order and on nothing else, so a second run, a resumed run and every shard
/// give each URL the same name. What the folder already holds is overwritten: that is what makes a second
/// run idempotent.
final class OutputNames {
  private let ledger: Ledger
  /// Whether the name is that of a file which the job itself reads or writes: the list, the results.
  private let isProtected: (String) -> Bool
  private var hasFolders = false
  private var lastFolder: (wanted: String, got: String) = ("", "")

  init(ledger: Ledger, isProtected: @escaping (String) -> Bool = { _ in false }) {
    self.ledger = ledger
    self.isProtected = isProtected
  }

  /// Takes `wanted`, or the first of `wanted-1`, `wanted-2`, ... that no earlier line has.
  func claim(_ wanted: String) throws(IOFailure) -> String {
    let name = try inFreeFolder(wanted)
    if try take(name) { return name }
    // The number kept for a taken name is the suffix given out last: a million lines called `index` then
    // cost one look-up each instead of a search through all earlier suffixes.
    var suffix = try ledger.value(Fingerprint(.file, name)) ?? 0
    while true {
      suffix += 1
      let candidate = OutputName.suffixed(name, Int(suffix))
      guard try take(candidate) else { continue }
      try ledger.set(Fingerprint(.file, name), suffix)
      return candidate
    }
  }

  private func take(_ name: String) throws(IOFailure) -> Bool {
    if isProtected(name) { return false }
    if hasFolders, try ledger.value(Fingerprint(.directory, name)) != nil { return false }
    return try ledger.insert(Fingerprint(.file, name)) == nil
  }

  /// The name with its folders renamed where an earlier line has a file of that name.
  private func inFreeFolder(_ name: String) throws(IOFailure) -> String {
    guard let slash = name.utf8.lastIndex(of: UInt8(ascii: "/")) else { return name }
    let wanted = String(name[..<slash])
    if wanted != lastFolder.wanted { lastFolder = (wanted, try freeFolder(wanted)) }
    return lastFolder.got + name[slash...]
  }

  private func freeFolder(_ wanted: String) throws(IOFailure) -> String {
    hasFolders = true
    var path = ""
    for component in wanted.split(separator: "/") {
      let full = path.isEmpty ? String(component) : "\(path)/\(component)"
      path = try firstFolder(full)
      try ledger.insert(Fingerprint(.directory, path))
    }
    return path
  }

  private func firstFolder(_ wanted: String) throws(IOFailure) -> String {
    var (candidate, suffix) = (wanted, 0)
    while try ledger.value(Fingerprint(.file, candidate)) != nil || isProtected(candidate) {
      suffix += 1
      candidate = OutputName.suffixed(wanted, suffix)
    }
    return candidate
  }
}
