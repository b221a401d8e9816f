/// Looks at what stands in the directory, without LMDB, while no other process has it open.
extension EnvironmentOpener {
  struct Verdict: Equatable {
    /// What is damaged was not moved yet: its name is empty.
    var finding: EnvironmentOpening.Found
    var layout: UInt32
    /// Openings in a row that did not end, this one included.
    var brokenOpenings: UInt16 = 1
  }

  /// Throws for what is not ours to touch.
  func look() throws(NetworkError) -> Verdict {
    guard let found = directory.dataStatus(), found.bytes > 0 || !found.isRegular || isCutToNothing else {
      return Verdict(finding: .nothing, layout: settings.layout)
    }
    if found.kind == .symlink { throw EnvironmentDirectory.refusal("symlink") }
    guard found.isRegular else { throw EnvironmentDirectory.refusal("notAFile") }
    let data = try directory.openData()
    let status = try? FileStatus(of: data)
    let file = PageFile(data)
    guard let stamp = directory.readStamp() else { return try inspectUnstamped(file) }
    if stamp.layout > settings.layout { throw EnvironmentDirectory.refusal("newerSchema") }
    return try inspect(file, status, stamp)
  }

  /// True if an empty file was once more than that: one that was just being made says nothing.
  private var isCutToNothing: Bool { !settings.isDisposable && directory.readStamp()?.state != .opening }

  /// Judges a file of another program's, or one whose stamp is gone: what was left undone is unknown.
  private func inspectUnstamped(_ file: PageFile) throws(NetworkError) -> Verdict {
    try refuseOtherVersions(file)
    guard let why = settings.isDisposable ? "no stamp" : file.damage() else {
      return Verdict(finding: .whole, layout: settings.layout)
    }
    return Verdict(finding: .damaged(movedTo: "", why: why), layout: settings.layout)
  }

  private func inspect(
    _ file: PageFile, _ status: FileStatus?, _ stamp: EnvironmentStamp
  ) throws(NetworkError) -> Verdict {
    let broken = stamp.state == .opening ? stamp.brokenOpenings : 0
    var verdict = Verdict(finding: .whole, layout: stamp.layout, brokenOpenings: broken + 1)
    if settings.isDisposable && isOutdated(stamp) {
      verdict.finding = .outdated
      return verdict
    }
    try refuseOtherVersions(file)
    if let why = distrust(stamp, broken: broken) ?? damage(file, status, stamp) {
      verdict.finding = .damaged(movedTo: "", why: why)
    }
    return verdict
  }

  /// Written without waiting for a disk that may not have got it all.
  private func isOutdated(_ stamp: EnvironmentStamp) -> Bool {
    if stamp.layout < settings.layout { return true }
    return stamp.state != .orderly && !stamp.boot.isSame(as: .current)
  }

  /// An opening that never ended may have died of what it read. What can be had again is not given a second chance.
  /// What cannot is: every page is walked before each of them, and a process that is killed as soon as it starts, by
  /// a supervisor or for want of memory, says nothing about its file. Not for ever, though.
  private func distrust(_ stamp: EnvironmentStamp, broken: UInt16) -> String? {
    if stamp.isSuspect && settings.isDisposable { return "damage met in use" }
    return broken > (settings.isDisposable ? 0 : Self.brokenMax) ? "opening never ended" : nil
  }

  private static let brokenMax: UInt16 = 15

  /// A file that no process touched since it was left in order needs no walk through its pages.
  private func damage(_ file: PageFile, _ status: FileStatus?, _ stamp: EnvironmentStamp) -> String? {
    let isUntouched =
      stamp.state == .orderly && status?.bytes == stamp.dataBytes && status?.modified == stamp.dataModified
    return file.damage(ofMetaPagesOnly: isUntouched)
  }

  private func refuseOtherVersions(_ file: PageFile) throws(NetworkError) {
    if let reason = file.otherVersion() { throw EnvironmentDirectory.refusal(reason) }
  }
}
