import ArgumentParser

/// What `post` sends.
struct BodyOptions: ParsableArguments {
  @Option(
    help: ArgumentHelp(
      "Send this text as it stands, as application/x-www-form-urlencoded. Several are joined by '&'.",
      valueName: "a=b"))
  var data: [String] = []

  @Option(
    help: ArgumentHelp(
      "Send a field, or a file with '@', as multipart/form-data; ';type=' names a file's type. Repeatable.",
      valueName: "k=v|k=@file[;type=t]"))
  var form: [FormField] = []

  @Option(
    help: ArgumentHelp(
      "Send a file as it stands, '-' for standard input; as application/octet-stream unless --header names "
        + "another Content-Type.", valueName: "path"))
  var file: String?

  @Option(help: ArgumentHelp("Send this text, as application/json.", valueName: "text"))
  var json: String?

  func validate() throws {
    let kinds = [!data.isEmpty, !form.isEmpty, file != nil, json != nil]
    guard kinds.count(where: { $0 }) <= 1 else {
      throw ValidationError("--data, --form, --file and --json are four kinds of body: one at a time.")
    }
    if let text = data.first(where: { $0.hasPrefix("@") }) {
      throw ValidationError(
        "--data sends text as it stands. '--file \(text.dropFirst())' sends a file; '%40' is an '@'.")
    }
  }
}
