import Testing

@testable import NetSpool
@testable import TestSupport

/// Nobody waits for ever: not an origin beside a flooded one, not a class beside more urgent ones.
@Suite struct AdmissionStarvationTests {
  /// Random arrivals and endings, watching how long one marked element waits.
  private struct Traffic {
    var queue = AdmissionQueue<Int>(maximumConcurrent: 3)
    var origins: [OriginID] = []
    var generator: SplitMix64
    var underWay: [OriginID] = []
    var admissions = 0

    init(origins count: Int, seed: UInt64) {
      generator = SplitMix64(seed: seed)
      for _ in 0..<count { origins.append(queue.addOrigin(limit: 2)) }
    }

    mutating func arrive(_ element: Int = 0, at origin: Int, _ priority: NetworkRequest.Priority) {
      _ = queue.enqueue(element, origin: origins[origin], priority: priority)
    }

    /// One ends and what may start does; answers what was admitted.
    mutating func turn() -> [Int] {
      if let ended = underWay.indices.randomElement(using: &generator) {
        queue.finished(underWay.remove(at: ended))
      }
      var admitted: [Int] = []
      while let next = queue.next() {
        underWay.append(next.origin)
        admitted.append(next.element)
        admissions += 1
      }
      return admitted
    }

    /// Admissions until the marked element's turn.
    mutating func wait(for mark: Int, arrivals: (inout Traffic) -> Void) -> Int {
      let before = admissions
      while admissions - before < 100_000 {
        arrivals(&self)
        if turn().contains(mark) { break }
      }
      return admissions - before
    }
  }

  @Test(arguments: 1...20 as ClosedRange<UInt64>)
  func `a flood to one origin holds up another by one turn of each`(_ seed: UInt64) {
    // Given a flood to the first origin, and some work at eleven others.
    var traffic = Traffic(origins: 13, seed: seed)
    for _ in 0..<5_000 { traffic.arrive(at: 0, .normal) }
    for origin in 1..<12 { for _ in 0..<50 { traffic.arrive(at: origin, .normal) } }
    for _ in 0..<Int(traffic.generator.next() % 40) { _ = traffic.turn() }
    // When one comes for the last origin.
    traffic.arrive(1, at: 12, .normal)
    let waited = traffic.wait(for: 1) { traffic in
      traffic.arrive(at: Int(traffic.generator.next() % 12), .normal)
    }
    // Then each of the others goes before it at most once; and those that started in the same turn.
    #expect(waited <= 12 + 3, "seed \(seed): \(waited)")
  }

  @Test(arguments: 1...20 as ClosedRange<UInt64>)
  func `origins of one class get equal shares however much waits`(_ seed: UInt64) {
    var traffic = Traffic(origins: 10, seed: seed)
    for origin in 0..<10 {
      for _ in 0..<(400 + (origin == 0 ? 10_000 : 0)) { traffic.arrive(origin, at: origin, .high) }
    }
    var shares = [Int](repeating: 0, count: 10)
    for _ in 0..<1_000 { for origin in traffic.turn() { shares[origin] += 1 } }
    let spread = (shares.max() ?? 0) - (shares.min() ?? 0)
    #expect(spread <= 1_000 / 10 / 5, "seed \(seed): \(shares)")
  }

  @Test(arguments: NetworkRequest.Priority.allCases, 1...5 as ClosedRange<UInt64>)
  func `no class waits for ever whatever arrives`(_ priority: NetworkRequest.Priority, _ seed: UInt64) {
    // Given more arrivals of every class, at every origin, than can ever be admitted.
    var traffic = Traffic(origins: 8, seed: seed)
    func flood(_ traffic: inout Traffic) {
      for _ in 0..<4 {
        let other = NetworkRequest.Priority.allCases[Int(traffic.generator.next() % 4)]
        traffic.arrive(at: Int(traffic.generator.next() % 8), other == priority ? .urgent : other)
      }
    }
    for _ in 0..<300 {
      flood(&traffic)
      _ = traffic.turn()
    }
    // When a few of the class wait at each origin, the marked one last.
    for origin in 0..<8 { for _ in 0..<5 { traffic.arrive(at: origin, priority) } }
    traffic.arrive(1, at: 0, priority)
    let waited = traffic.wait(for: 1, arrivals: flood)
    // Then it comes up after the 48 of its class at the least share a class has, 2 of 37; twice that, as an origin's
    // slots may be taken when it is its turn.
    #expect(waited <= 48 * 37 / 2 * 2, "\(priority), seed \(seed): \(waited)")
  }
}
