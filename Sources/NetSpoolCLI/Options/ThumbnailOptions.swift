import ArgumentParser

/// `--thumbnail` and what belongs to it: in a build without the trait `Images` a mistake that says how to get one.
struct ThumbnailOptions: ParsableArguments {
  @Option("thumbnail") var maxSide: Int?
  @Option("format") var wantedFormat: ThumbnailFormat?
  @Option("fit") var wantedFit: ThumbnailFit?

  var format: ThumbnailFormat { wantedFormat ?? .webp }
  var fit: ThumbnailFit { wantedFit ?? .contain }

  /// What tells two thumbnails of a picture apart: `256 contain webp`. Nil without the option.
  var transformText: String? { maxSide.map { "\($0) \(fit.rawValue) \(format.rawValue)" } }

  func validate() throws {
    guard let maxSide else {
      return try refuse(
        wantedFormat != nil || wantedFit != nil,
        "--format and --fit need --thumbnail: they say how thumbnails are written.")
    }
    try refuse(!(1...16_383).contains(maxSide), "--thumbnail is a number of pixels from 1 to 16383.")
    #if !Images
    throw ValidationError(
      "--thumbnail: this netspool was built without pictures; build it with 'swift build -c release --traits Images'."
    )
    #endif
  }
}

enum ThumbnailFormat: String, CaseIterable, ExpressibleByArgument {
  case webp, jpeg, avif, png

  /// What the names of files end with.
  var ending: String { self == .jpeg ? "jpg" : rawValue }
}

enum ThumbnailFit: String, CaseIterable, ExpressibleByArgument { case contain, cover }
