#if Images
import Glibc
import NetSpool
import NetSpoolImages
import Synchronization

/// Decodes in processes of their own, one for each thread that decodes: a picture that crashes the decoder costs that
/// process and that picture. What a header gives away is refused before anybody is asked.
///
/// Where transfers have all descriptors, the two that a process takes to be started were set aside, and a thread without a
/// process of its own waits for another's.
final class HelperDecoder: PictureDecoder {
  private struct State {
    var idle: [PictureHelper] = []
    /// Idle, at work or being started.
    var helpers = 0
    var spare: [Int32] = []
  }

  private static let spareMax = 2
  /// For the next look at what has become free, in microseconds.
  private static let pause: UInt32 = 20_000

  private let command: [String]
  private let state = Mutex(State())

  init(_ command: [String] = ["/proc/self/exe", DecodePicturesCommand.name]) {
    self.command = command
    setAside()
  }

  deinit { close() }

  /// How many processes there may be: transfers need most descriptors.
  static var width: Int {
    max(1, min(Int(sysconf(Int32(_SC_NPROCESSORS_ONLN))), Int(clamping: FileLimit.current.soft / 32)))
  }

  func make(
    _ body: ResponseBytes, _ transform: ThumbnailTransform, _ limits: ThumbnailLimits,
    isUnwanted: @escaping @Sendable () -> Bool
  ) throws(PictureRejection) -> Picture {
    try limits.check(NetworkImage(body))
    let helper = try take(until: .now + limits.timeMax, isUnwanted)
    defer { giveBack(helper) }
    return try helper.make(body, transform, limits, isUnwanted: isUnwanted)
  }

  func threadBegins() {}

  func threadEnds() {}

  /// Ends the processes. None may be asked any more.
  func close() {
    state.withLock { state in
      state.idle = []
      Self.release(&state)
    }
  }

  // MARK: Processes

  /// An idle one, or a new one. Without any, who waits for a descriptor or a process of the system does so until `deadline`.
  private func take(until deadline: ContinuousClock.Instant, _ isUnwanted: @Sendable () -> Bool)
    throws(PictureRejection) -> PictureHelper
  {
    while true {
      let idle = state.withLock { state in
        if state.idle.isEmpty { state.helpers += 1 }
        return state.idle.popLast()
      }
      if let idle { return idle }
      do throws(IOFailure) { return try start() } catch {
        let others = state.withLock { state in
          state.helpers -= 1
          return state.helpers
        }
        if isUnwanted() { throw .cancelled }
        guard Self.mayPass(error.code), others > 0 || ContinuousClock.now < deadline else {
          throw Self.isOfDescriptors(error.code) ? .tooManyOpenFiles : .unstarted
        }
        usleep(Self.pause)
      }
    }
  }

  private func giveBack(_ helper: PictureHelper) {
    state.withLock { state in if helper.isAlive { state.idle.append(helper) } else { state.helpers -= 1 } }
  }

  private func start() throws(IOFailure) -> PictureHelper {
    do throws(IOFailure) { return try PictureHelper(command) } catch {
      guard Self.isOfDescriptors(error.code) else { throw error }
    }
    state.withLock { Self.release(&$0) }
    defer { setAside() }
    return try PictureHelper(command)
  }

  private static func isOfDescriptors(_ code: Int32) -> Bool { code == EMFILE || code == ENFILE }

  private static func mayPass(_ code: Int32) -> Bool {
    isOfDescriptors(code) || code == EAGAIN || code == ENOMEM
  }

  // MARK: Descriptors

  /// As many as there are.
  private func setAside() {
    state.withLock { state in
      while state.spare.count < Self.spareMax {
        let number = unsafe open("/dev/null", O_RDONLY | O_CLOEXEC)
        guard number >= 0 else { return }
        state.spare.append(number)
      }
    }
  }

  private static func release(_ state: inout State) {
    for number in state.spare { Glibc.close(number) }
    state.spare = []
  }
}
#endif
