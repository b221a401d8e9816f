#if Images
internal import CNetSpoolVips
package import NetSpool
internal import Synchronization

/// A thumbnail that was made.
package struct Picture: Sendable {
  package let bytes: [UInt8]
  package let width: Int
  package let height: Int

  package init(bytes: [UInt8], width: Int, height: Int) {
    (self.bytes, self.width, self.height) = (bytes, width, height)
  }
}

/// Why nothing was made of a picture; the word is the reason of `.imageRejected`.
package enum PictureRejection: String, Error, CaseIterable {
  /// Nothing that is decoded here: BMP, and what is no picture.
  case format
  /// More pixels than `ThumbnailLimits.pixelsMax`.
  case pixels
  /// The decoder found it damaged, or the encoder refused.
  case damaged
  /// Longer than `ThumbnailLimits.timeMax`.
  case time
  /// The decoder has no memory.
  case memory
  /// The decoder, a process of its own, died.
  case crashed
  /// It could not be started: no descriptor is left for it.
  case tooManyOpenFiles
  /// It could not be started: the system has no process left, or no memory.
  case unstarted
  /// It is no longer wanted.
  case cancelled
}

/// The maker of thumbnails: libvips in this process, or a process of its own for each thread.
package protocol PictureDecoder: Sendable {
  /// Blocks until it is made. `isUnwanted` is asked now and then, on any thread.
  func make(
    _ body: ResponseBytes, _ transform: ThumbnailTransform, _ limits: ThumbnailLimits,
    isUnwanted: @escaping @Sendable () -> Bool
  ) throws(PictureRejection) -> Picture

  /// This thread makes pictures from now on: what is loaded for that is loaded now.
  func threadBegins()

  /// This thread makes no more.
  func threadEnds()
}

extension ThumbnailLimits {
  /// By the bytes alone, and cheap: what is refused here no decoder ever sees.
  package func check(_ image: NetworkImage?) throws(PictureRejection) {
    guard let image, Self.decoded.contains(image.format) else { throw .format }
    if image.decodedPixels > pixelsMax { throw .pixels }
  }

  private static let decoded: Set<NetworkImage.Format> = [.jpeg, .png, .webP, .gif, .avif, .heif]
}

/// libvips in this process.
package struct LibraryDecoder: PictureDecoder {
  private let spent: (@Sendable () -> Duration)?

  /// - Parameter spent: the processor's time that this process has had, for one that decodes one picture at a time: a picture
  ///   is late only when it has had too much of that as well. Nil: by the clock alone.
  package init(spent: (@Sendable () -> Duration)? = nil) { self.spent = spent }

  private static let isReady = cnetspool_vips_start() == 0

  package func make(
    _ body: ResponseBytes, _ transform: ThumbnailTransform, _ limits: ThumbnailLimits,
    isUnwanted: @escaping @Sendable () -> Bool
  ) throws(PictureRejection) -> Picture {
    try Self.make(body, transform.order, limits, PictureWatch(limits.timeMax, spent, isUnwanted))
  }

  /// Rows of red, green, blue and opacity.
  static func unpack(
    _ body: ResponseBytes, maxSide: Int, _ limits: ThumbnailLimits, isUnwanted: @escaping @Sendable () -> Bool
  ) throws(PictureRejection) -> Picture {
    var order = ThumbnailTransform(maxSide: maxSide).order
    order.format = CInt(CNETSPOOL_VIPS_RGBA)
    return try make(body, order, limits, PictureWatch(limits.timeMax, nil, isUnwanted))
  }

  private static func make(
    _ body: ResponseBytes, _ order: cnetspool_vips_order, _ limits: ThumbnailLimits, _ watch: PictureWatch
  ) throws(PictureRejection) -> Picture {
    try limits.check(NetworkImage(body))
    guard isReady else { throw .memory }
    var made = unsafe cnetspool_vips_picture()
    let status = unsafe body.withUnsafeBytes { bytes in
      guard let start = bytes.baseAddress else { return CInt(-1) }
      var order = order
      order.pixels_max = Double(limits.pixelsMax)
      var guardian = unsafe cnetspool_vips_guard(
        is_over: { unsafe Unmanaged<PictureWatch>.fromOpaque($0).takeUnretainedValue().isOver },
        context: Unmanaged.passUnretained(watch).toOpaque())
      return withExtendedLifetime(watch) {
        unsafe cnetspool_vips_make(start, bytes.count, &order, &guardian, &made)
      }
    }
    defer { if let bytes = unsafe made.bytes { unsafe cnetspool_vips_free(bytes) } }
    if status == CNETSPOOL_VIPS_TOO_LARGE { throw .pixels }
    if let reason = watch.reason { throw reason }
    guard status == 0, let bytes = unsafe made.bytes else { throw .damaged }
    let file = unsafe [UInt8](UnsafeRawBufferPointer(start: bytes, count: made.count))
    return unsafe Picture(
      bytes: order.format == CInt(CNETSPOOL_VIPS_WEBP) ? WebPMetadata.removed(from: file) : file,
      width: Int(made.width), height: Int(made.height))
  }

  package func threadBegins() { _ = Self.isReady }

  package func threadEnds() { vips_thread_shutdown() }
}

extension ThumbnailTransform {
  fileprivate var order: cnetspool_vips_order {
    let number =
      switch format {
      case .webP: CNETSPOOL_VIPS_WEBP
      case .jpeg: CNETSPOOL_VIPS_JPEG
      case .avif: CNETSPOOL_VIPS_AVIF
      case .png: CNETSPOOL_VIPS_PNG
      }
    return cnetspool_vips_order(
      side: CInt(maxSide), is_cropped: fit == .cover, format: CInt(number), quality: CInt(quality),
      pixels_max: 0)
  }
}

/// Asked by libvips every few rows.
private final class PictureWatch: Sendable {
  private let deadline: ContinuousClock.Instant
  private let hasSpentAll: @Sendable () -> Bool
  private let isUnwanted: @Sendable () -> Bool
  private let found = Mutex<PictureRejection?>(nil)

  /// - Parameter spent: as `LibraryDecoder` has it.
  init(
    _ limit: Duration, _ spent: (@Sendable () -> Duration)?, _ isUnwanted: @escaping @Sendable () -> Bool
  ) {
    deadline = .now + limit
    let all = (spent?() ?? .zero) + limit
    hasSpentAll = { spent.map { $0() > all } ?? true }
    self.isUnwanted = isUnwanted
  }

  /// Why it was ended; nil when it was not.
  var reason: PictureRejection? { found.withLock { $0 } }

  var isOver: Bool {
    let reason: PictureRejection? = isUnwanted() ? .cancelled : .now > deadline && hasSpentAll() ? .time : nil
    guard let reason else { return false }
    found.withLock { $0 = reason }
    return true
  }
}
#endif
