import ArgumentParser
import Glibc
import NetSpool

/// `--names`: what files are called whose line gives no name.
enum OutputNaming: String, CaseIterable, Sendable, ExpressibleByArgument {
  /// As the URL of the list ends.
  case url
  /// As the server says (Content-Disposition), else as `final`.
  case header
  /// As the URL ends that answered.
  case final

  /// Nil where the list says it.
  func name(_ response: NetworkResponse) -> String? {
    if self == .url { return nil }
    let named = self == .header ? response.headers["Content-Disposition"] : nil
    return named.flatMap(ContentDisposition.fileName) ?? OutputName.fromURL(response.finalURL)
  }
}

/// Where bodies go that have landed: into a tar, or under names that only answers tell.
protocol BodyPlace: AnyObject {
  /// Takes the body from where it has landed. Throws what the job cannot go on after.
  /// - Returns: the outcome with its place, or as a failure of this line alone.
  func add(_ item: FetchItem, _ outcome: FetchOutcome) throws(IOFailure) -> FetchOutcome
  func finish() throws(IOFailure)
}

/// A folder whose files are called as answers say. Bodies land in a folder inside of it; the job's thread names them.
final class NamedFolder: BodyPlace {
  let bodies: LandingFolder
  private let folder: OutputFolder
  private let names: OutputNames

  init(_ folder: OutputFolder, _ names: OutputNames) throws {
    guard let bodies = try LandingFolder(beside: folder.path) else {
      throw Mistake("another netspool gives names in \(folder.path) at the moment", .localIO)
    }
    (self.bodies, self.folder, self.names) = (bodies, folder, names)
  }

  func add(_ item: FetchItem, _ outcome: FetchOutcome) throws(IOFailure) -> FetchOutcome {
    let name: String
    if let output = item.output {
      name = output
    } else {
      name = try names.claim(outcome.name ?? OutputName.fallback, for: item.url)
    }
    let landing = bodies.path(for: item)
    do throws(IOFailure) { try move(landing, to: name) } catch {
      unsafe _ = unlink(landing)
      if IOFailure.stopsEverything(error.code) { throw error }
      return outcome.judged(.failed(errno: error.code))
    }
    var placed = outcome
    placed.place = FetchOutcome.Place(member: name)
    return placed
  }

  private func move(_ landing: String, to name: String) throws(IOFailure) {
    let path = try folder.makePath(for: name)
    // An answer without a body made no file.
    if FileFacts(path: landing) != nil, unsafe rename(landing, path) != 0 { throw .last("write", path) }
  }

  func finish() {}
}
