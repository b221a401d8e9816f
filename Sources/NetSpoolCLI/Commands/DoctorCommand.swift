import ArgumentParser

/// `netspool doctor`: what this program is made of and what it may use.
struct DoctorCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "doctor", abstract: "Show library versions, limits, defaults and directories.")

  @OptionGroup var options: DoctorOptions

  func run() throws {
    FileLimit.raise()
    let sheet = FactSheet.doctor(.process, options)
    let text = options.json ? sheet.json : Array(sheet.text.utf8)
    do throws(IOFailure) {
      try Descriptor(borrowing: 1, named: "standard output").write(text)
    } catch {
      throw ExitCode(JobStatus.localIO.code)
    }
  }
}
