#if Images
internal import Glibc
internal import NetSpool
internal import Synchronization

/// The threads on which pictures are decoded: as many as there are processors, started when there is something to do, and
/// ended when there is nothing. What is urgent goes first.
///
/// Pictures on their way take no more than `bytesMax` together, by four bytes for each of their pixels, which is what a
/// decoder takes that cannot decode in rows. One alone may take more, as far as its limits let it.
package final class PicturePool: Sendable {
  /// The pool of the process: its threads are as many as its processors.
  static let shared = PicturePool(LibraryDecoder())

  private struct State {
    /// By priority, the lowest first.
    var waiting = Array(repeating: FIFO<Job>(), count: NetworkRequest.Priority.allCases.count)
    /// In which of these each job waits: one that was moved stands in its old line as well, and counts for nothing there.
    var places: [ObjectIdentifier: Int] = [:]
    var threads = 0
    var bytes = 0

    mutating func append(_ job: Job, _ priority: NetworkRequest.Priority) {
      let place = Int(priority.rawValue)
      places[ObjectIdentifier(job)] = place
      waiting[place].append(job)
    }

    /// A waiting picture and its place in line.
    var first: (job: Job, place: Int)? {
      mutating get {
        for place in waiting.indices.reversed() {
          while let job = waiting[place].first {
            if places[ObjectIdentifier(job)] == place { return (job, place) }
            _ = waiting[place].popFirst()
          }
        }
        return nil
      }
    }
  }

  final class Job: Sendable {
    let bytes: Int
    private let work: Mutex<(@Sendable () -> Void)?>

    init(bytes: Int, run: @escaping @Sendable () -> Void) {
      self.bytes = bytes
      work = Mutex(run)
    }

    func run() { take()?() }

    /// It is not wanted any more: its picture goes now, and not when its turn comes.
    func forget() { _ = take() }

    private func take() -> (@Sendable () -> Void)? {
      work.withLock { work in
        defer { work = nil }
        return work
      }
    }
  }

  let decoder: any PictureDecoder
  private let width: Int
  private let bytesMax: Int
  private let state = Mutex(State())

  /// - Parameters:
  ///   - width: threads; as many as there are processors unless told otherwise.
  ///   - bytesMax: 512 MiB by default.
  package init(_ decoder: any PictureDecoder, width: Int? = nil, bytesMax: Int = 512 << 20) {
    self.decoder = decoder
    self.width = width ?? max(1, Int(sysconf(CInt(_SC_NPROCESSORS_ONLN))))
    self.bytesMax = bytesMax
  }

  func submit(_ job: Job, _ priority: NetworkRequest.Priority) {
    let isNew = state.withLock { state in
      state.append(job, priority)
      guard state.threads < width else { return false }
      state.threads += 1
      return true
    }
    if isNew { startThread() }
  }

  /// Puts one that still waits behind the others of that priority.
  func move(_ job: Job, to priority: NetworkRequest.Priority) {
    state.withLock { state in
      guard let place = state.places[ObjectIdentifier(job)], place != Int(priority.rawValue) else { return }
      state.append(job, priority)
    }
  }

  private func startThread() {
    SystemThread.run("netspool-image", loading: { [decoder] in decoder.threadBegins() }, work)
  }

  /// Makes one picture; false when there was none to make.
  private func work() -> Bool {
    guard let job = next() else {
      decoder.threadEnds()
      return false
    }
    job.run()
    if giveBack(job) { startThread() }
    return true
  }

  /// True when there may be room now for more than this thread.
  private func giveBack(_ job: Job) -> Bool {
    state.withLock { state in
      state.bytes -= job.bytes
      guard state.threads < width, state.places.count > 1 else { return false }
      state.threads += 1
      return true
    }
  }

  /// Nil when there is nothing to do, or no room for it: then calls that make room go on.
  private func next() -> Job? {
    state.withLock { state in
      if let (job, index) = state.first, state.bytes == 0 || state.bytes + job.bytes <= bytesMax {
        state.bytes += job.bytes
        _ = state.waiting[index].popFirst()
        state.places[ObjectIdentifier(job)] = nil
        return job
      }
      state.threads -= 1
      return nil
    }
  }
}
#endif
