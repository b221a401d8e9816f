import NetSpool

extension FactSheet {
  /// The store of frozen requests: looked at first, so that a damaged one stays as it is.
  static func frozen(_ place: FrozenPlace, _ environment: Environment) -> Group {
    guard let directory = place.path(environment) else {
      return Group(
        name: "frozen",
        entries: [
          ("directory", .none("none: neither XDG_STATE_HOME nor HOME is set")), ("state", .none("none")),
        ])
    }
    var entries: [(name: String, value: Value)] = [("directory", .text(directory))]
    do {
      entries += try state(of: directory, place, environment)
    } catch let failure as FrozenFailure {
      entries.append(("state", .text(failure.cause)))
    } catch {
      entries.append(("state", .text("\(error)")))
    }
    return Group(name: "frozen", entries: entries)
  }

  private static func state(
    of directory: String, _ place: FrozenPlace, _ environment: Environment
  ) throws -> [(name: String, value: Value)] {
    guard try FrozenFiles.hasStore(in: directory) else { return [("state", .none("not there yet"))] }
    do throws(NetworkError) {
      if case .damaged(let why, _) = try FrozenStoreFinding.inspect(directory) {
        return [("state", .text("damaged (\(why)): the next request puts it aside"))]
      }
    } catch {
      guard let owner = FrozenFailure.owner(error) else { throw FrozenFailure(directory, error) }
      return [("state", .text("in use")), ("owner", .text(owner))]
    }
    let hold = try FrozenHold(try FrozenSettings(place, environment), nil)
    defer { hold.close() }
    hold.settle()
    return [
      ("state", .text("in order")), ("owner", .none("none")),
      ("waiting", .number(hold.engine.frozenOperations.count, unit: "")),
      ("dead letters", .number(hold.engine.deadLetters.count, unit: "")),
    ]
  }
}
