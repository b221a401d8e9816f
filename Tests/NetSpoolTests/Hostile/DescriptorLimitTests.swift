import Glibc
import NetSpool
import NetSpoolTesting
import Testing

@testable import TestSupport

@Suite("Out of descriptors")
struct DescriptorLimitTests {
  @Test func `fails what cannot open and recovers`() async {
    await #expect(processExitsWith: .success) {
      try await withWire({ $0.queue.sizing = .fixed(20) }) { wire in
        wire.origin.fallback(.text("ok"))
        #expect(try await wire.answer(wire.operation("/warm")).text == "ok")
        // Given a process without a free descriptor, whose idle connection does not lead to the other name
        var taken: [Int32] = []
        leaveFewDescriptors()
        while case let descriptor = dup(0), descriptor >= 0 { taken.append(descriptor) }
        #expect(errno == EMFILE)
        // When many ask
        let before = cpuSeconds()
        for _ in 0..<20 {
          // Somebody may have closed one meanwhile
          while case let descriptor = dup(0), descriptor >= 0 { taken.append(descriptor) }
          let operation = wire.engine.operation(url: wire.origin.url("/a", host: "127.0.0.2"))
          let error = try await wire.failure(operation)
          #expect(error.code == .tooManyOpenFiles && error.underlying == .errno(EMFILE), "\(error)")
          #expect(error.isRetrySafe)
        }
        #expect(cpuSeconds() - before < 2)
        // And the connection that is there still serves
        #expect(try await wire.answer(wire.operation("/reused")).metrics.connectionReused)
        // Then it recovers with the descriptors
        for descriptor in taken { close(descriptor) }
        #expect(await wire.get(wire.origin.url("/b", host: "localhost")).text == "ok")
      }
    }
  }

  @Test(arguments: [false, true]) func `few descriptors make it slow and lose nothing`(toFiles: Bool) async {
    await #expect(processExitsWith: .success) { [toFiles = toFiles as Bool] in
      let folder = try TestFolder()
      // Half of what is free is the origin's here: it has an end of each connection
      leaveFewDescriptors()
      try await withWire({
        ($0.queue.sizing, $0.queue.maximumPerOrigin, $0.retry) = (.fixed(64), 64, .none)
      }) { wire in
        wire.origin.fallback(Answer.text("ok").delay(.milliseconds(20)))
        let operations = (0..<300).map { number in
          let operation = wire.operation("/\(number)")
          if toFiles { operation.addDownloadStream(FileDownloadStream(path: folder["\(number)"])) }
          return operation
        }
        let failures = await wire.engine.enqueue(operations).results.compactMap(\.error)
        #expect(failures.isEmpty, "\(failures.count) of 300, \(failures.first.map { "\($0)" } ?? "")")
      }
      if toFiles { #expect(folder.names.count == 300) }
    }
  }

  /// Each of them holds a connection that another engine could use.
  @Test func `few descriptors, and an engine that waits for its answers, leave some to others`() async {
    await #expect(processExitsWith: .success) {
      leaveFewDescriptors()
      // Of several loops each would have its part of what is hardly enough for one.
      try await withWire(
        { ($0.queue.sizing, $0.queue.maximumPerOrigin) = (.fixed(64), 64) }, loops: .fixed(1)
      ) { wire in
        wire.origin.fallback(.text("ok"))
        wire.origin.hold("/held")
        let held = wire.engine.start((0..<200).map { wire.operation("/held?\($0)") })
        // And the origin, whose ends are this process's as well, has taken what there is. One that finds none is running for a
        // moment, and waits again.
        #expect(await until { wire.origin.waitingCount("/held") >= max(4, wire.queue.activity.running) })
        for number in 0..<10 {
          let other = try NetworkEngine(host: "localhost", configuration: wire.engine.configuration)
          let url = wire.origin.url("/\(number)", host: "localhost")
          #expect(try await wire.answer(other.operation(url: url)).text == "ok")
        }
        // And the many go on, all of them
        wire.origin.on("/held", .text("ok"))
        wire.origin.releaseAll()
        for operation in held { #expect(await operation.end().text == "ok") }
      }
    }
  }

  /// libuv calls abort when a loop's first pipe cannot be made.
  @Test func `a loop without descriptors is refused, whichever is missing`() async {
    await #expect(processExitsWith: .success) {
      try await withWire { _ in }
      // Those of the one before go on threads of their own.
      let before = try await settledDescriptors()
      for free in 0..<8 {
        #expect(await until { TestFiles.names(in: "/proc/self/fd").count <= before })
        try await withWire { wire in
          wire.origin.fallback(.text("ok"))
          let taken = takeDescriptors()
          for descriptor in taken.suffix(free) { close(descriptor) }
          // The first finds it out, the others come behind it
          for _ in 0..<3 {
            let error = try await wire.failure(wire.operation("/"))
            #expect(error.code == .engineStartFailed, "\(free): \(error)")
          }
          for descriptor in taken.dropLast(free) { close(descriptor) }
        }
      }
      try await withWire { wire in
        wire.origin.fallback(.text("ok"))
        #expect(await wire.result(of: wire.operation("/")).text == "ok")
      }
    }
  }

  @Test func `a queue whose loop could not be made makes it for the next request`() async {
    await #expect(processExitsWith: .success) {
      try await withWire { wire in
        wire.origin.fallback(.text("ok"))
        let taken = takeDescriptors()
        let error = try await wire.failure(wire.operation("/"))
        #expect(error.code == .engineStartFailed)
        for descriptor in taken { close(descriptor) }
        #expect(await wire.result(of: wire.operation("/")).text == "ok")
      }
    }
  }

  @Test func `cookies that no loop can take are refused, and taken once there is one`() async {
    await #expect(processExitsWith: .success) {
      let folder = try TestFolder()
      let path = try folder.write("cookies", "127.0.0.1\tFALSE\t/\tFALSE\t0\tname\tvalue\n")
      try await withWire({ $0.cookies = .inMemory }) { wire in
        // Given enough to read a file, and too few for a loop
        let taken = takeDescriptors()
        for descriptor in taken.prefix(4) { close(descriptor) }
        let error = await #expect(throws: NetworkError.self) {
          try await wire.engine.importCookies(from: path)
        }
        #expect(error?.code == .engineStartFailed)
        for descriptor in taken.dropFirst(4) { close(descriptor) }
        try await wire.engine.importCookies(from: path)
        try await wire.engine.exportCookies(to: path)
      }
      #expect(try folder.text("cookies").contains("name\tvalue"))
    }
  }

  @Test func `says so when a file cannot be opened`() async {
    await #expect(processExitsWith: .success) {
      let folder = try TestFolder()
      let path = folder["a"]
      try await withWire { wire in
        wire.origin.fallback(.text("ok"))
        _ = try await wire.answer(wire.operation("/warm"))
        let taken = takeDescriptors()
        let error = try await wire.failure(
          wire.operation("/a").addDownloadStream(FileDownloadStream(path: path)))
        #expect(error.code == .sinkFailed && error.underlying == .errno(EMFILE), "\(error)")
        for descriptor in taken { close(descriptor) }
        _ = try await wire.answer(wire.operation("/a").addDownloadStream(FileDownloadStream(path: path)))
      }
      #expect(try folder.read("a") == Array("ok".utf8))
    }
  }
}

/// So many as a process with a limit of 64 has. A child may have got some of its parent's, which tests beside this one have
/// open just now: they do not count.
private func leaveFewDescriptors() {
  let open = (0..<1_024).count { fcntl($0, F_GETFD) >= 0 }
  let count = rlim_t(open + 46)
  var limit = rlimit(rlim_cur: count, rlim_max: count)
  _ = unsafe setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
}

/// All that are left of 64.
private func takeDescriptors() -> [Int32] {
  var limit = rlimit(rlim_cur: 64, rlim_max: 64)
  _ = unsafe setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
  var taken: [Int32] = []
  while case let descriptor = dup(0), descriptor >= 0 { taken.append(descriptor) }
  return taken
}

/// How many are open once none has been opened or closed for a tenth of a second.
private func settledDescriptors() async throws -> Int {
  var (count, same) = (0, 0)
  while same < 20 {
    try await Task.sleep(for: .milliseconds(5))
    let now = TestFiles.names(in: "/proc/self/fd").count
    (count, same) = (now, now == count ? same + 1 : 0)
  }
  return count
}
