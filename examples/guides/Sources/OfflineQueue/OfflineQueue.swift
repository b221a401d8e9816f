import NetSpool
import NetSpoolFoundation

struct Note: Codable {
  var text: String
}

@main
struct OfflineQueue {
  static func main() async throws {
    let engine = try NetworkEngine(url: CommandLine.arguments[1])

    // Notes of earlier runs are sent as well; this hears of them.
    try engine.onThawed(tag: "notes") { outcome in
      report(outcome.id, outcome.result)
    }

    while let text = readLine() {
      let note = engine.operation(path: "notes", method: .post)
        .setBody(try .json(Note(text: text)))
      note.tag = "notes"
      let ticket = try await engine.frozenTicket(for: note)
      print("note", ticket.id, "is on the disk")
      note.onCompletion { report(ticket.id, .success($0)) }
      note.onError { report(ticket.id, .failure($0)) }
    }

    // Wait a little for notes that can be sent now. The rest
    // stays on the disk for the next run.
    for _ in 0..<5 where !engine.frozenOperations.isEmpty {
      try await Task.sleep(for: .seconds(1))
    }
    await engine.shutDown(deadline: .seconds(5))
  }

  static func report(
    _ id: UInt64, _ result: Result<NetworkResponse, NetworkError>
  ) {
    switch result {
    case .success: print("note", id, "is delivered")
    case .failure(let error): print("note", id, "failed:", error)
    }
  }
}
