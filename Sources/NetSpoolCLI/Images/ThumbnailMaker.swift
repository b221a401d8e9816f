#if Images
import Dispatch
import NetSpool
import NetSpoolImages

/// `--thumbnail`: from an operation to a file with a thumbnail, or to the reason why there is none.
final class ThumbnailMaker: Sendable {
  private let transform: ThumbnailTransform
  private let transformText: String
  private let decoder = HelperDecoder()
  private let pool: PicturePool
  /// Files are written one at a time, behind the decoders.
  private let files = DispatchQueue(label: "netspool.thumbnails")

  /// Nil without the option.
  init?(_ options: ThumbnailOptions) {
    guard let maxSide = options.maxSide else { return nil }
    transform = ThumbnailTransform(
      maxSide: maxSide, format: .init(rawValue: options.format.rawValue) ?? .webP,
      fit: .init(rawValue: options.fit.rawValue) ?? .contain)
    transformText = options.transformText ?? ""
    pool = PicturePool(decoder, width: HelperDecoder.width)
  }

  func send(
    _ operation: NetworkOperation, of engine: NetworkEngine, _ parcel: Sender.Parcel,
    onFailure: @escaping @Sendable (NetworkError) -> Void
  ) {
    ThumbnailOperation(
      operation, of: engine, transform, ThumbnailLimits(), on: pool, sha256: parcel.options.sha256
    ) { [self] result in
      switch result {
      case .failure(let error): onFailure(error)
      case .success(let made): files.async { [self] in parcel.completion(outcome(of: made, parcel)) }
      }
    }.start()
  }

  /// Waits for files that are being written, and ends the decoders. Nothing may be sent any more.
  func close() {
    files.sync {}
    decoder.close()
  }

  private func outcome(of made: NetworkThumbnail, _ parcel: Sender.Parcel) -> FetchOutcome {
    var outcome = FetchOutcome(made.response, after: parcel.attempts)
    if let path = parcel.path {
      do throws(IOFailure) { try WholeFile.replace(path, [UInt8](made.body)) } catch {
        return FetchOutcome(local: error.code)
      }
    }
    outcome.contentType = transform.format.mimeType
    outcome.etag = nil  // the source's would be none of the thumbnail's
    outcome.sha256 = parcel.options.sha256  // the picture has it
    outcome.bytes = Int64(made.body.count)
    outcome.picture = FetchOutcome.PictureFacts(
      width: made.image.pixelWidth, height: made.image.pixelHeight, format: transform.format.rawValue,
      sourceBytes: Int64(made.sourceBytes), transform: transformText)
    return outcome
  }
}
#endif
