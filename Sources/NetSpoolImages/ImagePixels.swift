#if Images
public import NetSpool
internal import Synchronization

/// A decoded picture: rows of pixels from the top, each pixel red, green, blue and opacity, 0 to 255, in sRGB; what is
/// transparent keeps its colour.
public struct ImagePixels: Sendable {
  /// Columns, as shown.
  public let width: Int
  /// Rows, as shown.
  public let height: Int
  /// The pixels: `stride * height` bytes.
  public let bytes: [UInt8]

  /// Bytes from one row to the next: four times the width.
  public var stride: Int { width * 4 }

  /// The four bytes of a pixel; traps outside the picture.
  public subscript(x: Int, y: Int) -> ArraySlice<UInt8> {
    precondition((0..<width).contains(x) && (0..<height).contains(y), "NetSpool: no such pixel: \(x), \(y)")
    return bytes[y * stride + x * 4..<y * stride + x * 4 + 4]
  }
}

extension ImagePixels: CustomStringConvertible, CustomReflectable {
  /// `64 x 48`: what they are is not shown.
  public var description: String { "\(width) x \(height)" }

  /// The description: `dump` goes by it.
  public var customMirror: Mirror { Mirror(self, children: ["pixels": description]) }
}

extension NetworkImage {
  /// The memory that its pixels take, or more than there is.
  var decodedBytes: Int { min(decodedPixels, 1 << 50) * 4 }

  /// Decodes the picture, turned as its EXIF or HEIF says: the sides may change places. It waits its turn in the decoders'
  /// line, and no thread is blocked meanwhile.
  ///
  /// - Parameters:
  ///   - maxSide: no side is longer, and no more is decoded than that needs; 16,383 by default.
  ///   - priority: in the decoders' line; `.normal` by default.
  ///   - limits: `timeMax` and `pixelsMax` of the file, before it is made smaller.
  /// Throws `.imageRejected` with the reason `format`, `pixels`, `damaged`, `time` or `memory`, and `CancellationError` when the
  /// task was cancelled, which ends the work.
  public func pixels(
    maxSide: Int = 16_383, priority: NetworkRequest.Priority = .normal, limits: ThumbnailLimits = .init()
  ) async throws -> ImagePixels {
    try check(maxSide, limits)
    let work = PixelWork()
    let result = await withTaskCancellationHandler {
      await withCheckedContinuation { continuation in
        work.begin(continuation)
        if Task.isCancelled { return work.end(.failure(NetworkError(code: .cancelled))) }
        let job = PicturePool.Job(bytes: decodedBytes) { [self] in
          if work.isUnwanted { return }
          work.end(Result { () throws(NetworkError) in try unpack(maxSide, limits) { work.isUnwanted } })
        }
        PicturePool.shared.submit(job, priority)
      }
    } onCancel: {
      work.end(.failure(NetworkError(code: .cancelled)))
    }
    if case .failure(let error) = result, error.code == .cancelled { try Task.checkCancellation() }
    return try result.get()
  }

  /// The same for scripts: on the calling thread, which it blocks. Not for a delivery closure, nor for a task.
  public func pixelsAndWait(
    maxSide: Int = 16_383, limits: ThumbnailLimits = .init()
  ) throws(NetworkError) -> ImagePixels { try unpack(maxSide, limits) { false } }

  private func check(_ maxSide: Int, _ limits: ThumbnailLimits) throws(NetworkError) {
    try ThumbnailTransform(maxSide: maxSide).check()
    do throws(PictureRejection) { try limits.check(self) } catch { throw .rejected(error.cause, nil) }
  }

  private func unpack(
    _ maxSide: Int, _ limits: ThumbnailLimits, isUnwanted: @escaping @Sendable () -> Bool
  ) throws(NetworkError) -> ImagePixels {
    try check(maxSide, limits)
    do throws(PictureRejection) {
      let picture = try LibraryDecoder.unpack(body, maxSide: maxSide, limits, isUnwanted: isUnwanted)
      return ImagePixels(width: picture.width, height: picture.height, bytes: picture.bytes)
    } catch {
      throw .rejected(error.cause, nil)
    }
  }
}

/// A call that waits for pixels, and may go.
private final class PixelWork: Sendable {
  /// Nil before it waits, and once it has ended.
  private let waiting = Mutex<CheckedContinuation<Result<ImagePixels, NetworkError>, Never>?>(nil)

  var isUnwanted: Bool { waiting.withLock { $0 == nil } }

  func begin(_ continuation: CheckedContinuation<Result<ImagePixels, NetworkError>, Never>) {
    waiting.withLock { $0 = continuation }
  }

  /// The first one counts.
  func end(_ result: Result<ImagePixels, NetworkError>) {
    let continuation = waiting.withLock { waiting in
      defer { waiting = nil }
      return waiting
    }
    continuation?.resume(returning: result)
  }
}
#endif
