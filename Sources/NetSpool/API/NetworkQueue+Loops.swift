extension NetworkQueue {
  /// The number of threads of a queue. Requests to one origin are on the same thread, so that more of
  /// them help a program that asks several origins for more than one processor can handle; one origin as well with
  /// ``Configuration/splitsHotOrigins``. A request that is redirected stays
  /// on its thread, and all of an engine with cookies are on one; each thread counts for itself what an origin may get at
  /// once (`maximumPerOrigin`).
  ///
  /// A queue has at most one for each 64 descriptors that the process may open (`ulimit -n`): each needs some of its own.
  public enum Loops: Sendable, Hashable {
    /// This many: 1 to 64.
    case fixed(Int)
    /// Half as many as the machine has processors: at least 1, at most 8; or as many as the environment's `NETSPOOL_LOOPS` says.
    case automatic

    /// The number that the environment names, read once for the process.
    static let named: Loops? = ProcessEnvironment.value("NETSPOOL_LOOPS").flatMap { Int($0) }.flatMap {
      Loops.fixed($0).isValid ? .fixed($0) : nil
    }

    static let countMax = 64
    private static let automaticMax = 8

    var isValid: Bool {
      switch self {
      case .fixed(let count): (1...Self.countMax).contains(count)
      case .automatic: true
      }
    }

    /// The number that a queue has, where the process may open so many descriptors.
    func count(descriptors: Int) -> Int { min(count, max(1, descriptors / Self.descriptorsEach)) }

    private static let descriptorsEach = 64

    private var count: Int {
      switch self {
      case .fixed(let count): count
      case .automatic: Self.named?.count ?? min(Self.automaticMax, max(1, ProcessorCount.online / 2))
      }
    }
  }
}

extension NetworkQueue.Configuration {
  /// The same with the widths that each of so many loops has for itself.
  func part(of loops: Int) -> Self {
    guard splitsHotOrigins else { return self }
    func part(_ width: Int) -> Int { max(1, width / loops) }
    var own = self
    own.maximumPerOrigin = part(maximumPerOrigin)
    switch sizing {
    case .adaptive: break
    case .fixed(let width): own.sizing = .fixed(part(width))
    case .byLink(let local, let cellular): own.sizing = .byLink(local: part(local), cellular: part(cellular))
    }
    return own
  }
}
