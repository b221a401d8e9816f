#if Images
import Glibc
import NetSpool
import NetSpoolImages
import Synchronization

/// A process that decodes pictures, one at a time, and this side of the socket to it. Used by one thread at a time.
final class PictureHelper: Sendable {
  private let socket: Int32
  private let process: pid_t
  private let hasEnded = Atomic(false)

  /// Starts it, in a process group of its own: Ctrl-C is the job's alone.
  init(_ command: [String]) throws(IOFailure) {
    var ends: [Int32] = [0, 0]
    let type = Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue)
    guard unsafe socketpair(AF_UNIX, type, 0, &ends) == 0 else { throw .last("make a socket to", command[0]) }
    defer { close(ends[1]) }
    let (started, failure) = Self.spawn(command, ends[1])
    guard failure == 0 else {
      close(ends[0])
      throw IOFailure(action: "start", path: command[0], code: failure)
    }
    (socket, process) = (ends[0], started)
  }

  /// Its death, of whatever cause, is what ends it: a process that waits for its next question sees the socket closed.
  deinit { end() }

  var isAlive: Bool { !hasEnded.load(ordering: .relaxed) }

  /// Asks, and blocks for the answer. A helper that is late, or not wanted any more, is killed.
  func make(
    _ body: ResponseBytes, _ transform: ThumbnailTransform, _ limits: ThumbnailLimits,
    isUnwanted: @escaping @Sendable () -> Bool
  ) throws(PictureRejection) -> Picture {
    let patience = Patience(process, limits.timeMax + .seconds(1), isUnwanted)
    do throws(PictureRejection) {
      let question = PictureWire.question(body.count, transform, limits)
      guard unsafe question.withUnsafeBytes({ unsafe send($0) }),
        unsafe body.withUnsafeBytes({ unsafe send($0) })
      else { throw .crashed }
      let head = try PictureWire.answer(read(PictureWire.answerBytes, patience))
      guard let head else { throw .crashed }
      return Picture(bytes: try read(head.count, patience), width: head.width, height: head.height)
    } catch {
      if Self.endsProcess.contains(error) { end() }
      throw error
    }
  }

  private static let endsProcess: Set<PictureRejection> = [.crashed, .time, .cancelled]

  private func send(_ bytes: UnsafeRawBufferPointer) -> Bool {
    var sent = 0
    while sent < bytes.count {
      let count = unsafe Glibc.send(
        socket, bytes.baseAddress! + sent, bytes.count - sent, Int32(MSG_NOSIGNAL))
      if count < 0, errno == EINTR { continue }
      guard count > 0 else { return false }
      sent += count
    }
    return true
  }

  private func read(_ count: Int, _ patience: Patience) throws(PictureRejection) -> [UInt8] {
    var bytes = [UInt8](repeating: 0, count: count)
    var got = 0
    while got < count {
      try patience.wait(for: socket)
      let end = Descriptor(borrowing: socket, named: "a decoder")
      guard let more = try? end.read(into: &bytes, at: got), more > 0 else { throw .crashed }
      got += more
    }
    return bytes
  }

  private func end() {
    guard !hasEnded.exchange(true, ordering: .relaxed) else { return }
    close(socket)
    kill(process, SIGKILL)
    var status: Int32 = 0
    while unsafe waitpid(process, &status, 0) < 0, errno == EINTR {}
  }

  /// How long an answer is waited for: on a busy machine for longer, as far as the processor's time says that it is busy.
  private struct Patience {
    private static let busyMax = 10
    private let process: pid_t
    private let limit: Duration
    private let isUnwanted: @Sendable () -> Bool
    private let start = ContinuousClock.now
    private let spentBefore: Duration?

    init(_ process: pid_t, _ limit: Duration, _ isUnwanted: @escaping @Sendable () -> Bool) {
      (self.process, self.limit, self.isUnwanted) = (process, limit, isUnwanted)
      spentBefore = ProcessUsage.processorTime(of: process)
    }

    private var isOver: Bool {
      let waited = ContinuousClock.now - start
      if waited <= limit { return false }
      guard let spentBefore, let spent = ProcessUsage.processorTime(of: process) else { return true }
      return spent - spentBefore > limit || waited > limit * Self.busyMax
    }

    /// Returns when there is something to read.
    func wait(for socket: Int32) throws(PictureRejection) {
      while true {
        var watch = pollfd(fd: socket, events: Int16(POLLIN), revents: 0)
        if unsafe poll(&watch, 1, 100) > 0 { return }
        if isUnwanted() { throw .cancelled }
        if isOver { throw .time }
      }
    }
  }

  /// The socket is its standard input and output; what it has to say besides is not read.
  private static func spawn(_ command: [String], _ end: Int32) -> (pid_t, Int32) {
    var actions = unsafe posix_spawn_file_actions_t()
    unsafe posix_spawn_file_actions_init(&actions)
    defer { unsafe posix_spawn_file_actions_destroy(&actions) }
    unsafe posix_spawn_file_actions_adddup2(&actions, end, 0)
    unsafe posix_spawn_file_actions_adddup2(&actions, end, 1)
    unsafe posix_spawn_file_actions_addopen(&actions, 2, "/dev/null", O_WRONLY, 0)
    var attributes = posix_spawnattr_t()
    unsafe posix_spawnattr_init(&attributes)
    defer { unsafe posix_spawnattr_destroy(&attributes) }
    var none = sigset_t()
    unsafe sigemptyset(&none)
    unsafe posix_spawnattr_setsigmask(&attributes, &none)
    unsafe posix_spawnattr_setflags(&attributes, Int16(POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGMASK))
    var words = unsafe command.map { unsafe strdup($0) } + [nil]
    defer { unsafe words.forEach { unsafe free($0) } }
    var process: pid_t = 0
    let failure = unsafe posix_spawn(&process, command[0], &actions, &attributes, &words, environ)
    return (process, failure)
  }
}
#endif
