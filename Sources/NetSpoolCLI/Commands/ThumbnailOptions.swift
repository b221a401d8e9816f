import ArgumentParser
import NetSpool

/// `--thumbnail` and what belongs to it. The options are there in every build; without the trait `Images` they are a
/// mistake that says how to get one with them.
struct ThumbnailOptions: ParsableArguments {
  @Option(
    name: .customLong("thumbnail"),
    help: ArgumentHelp(
      "Write a thumbnail of each picture in its place, with no side longer than this. Needs the trait Images.",
      valueName: "pixels"))
  var maxSide: Int?

  @Option(
    name: .customLong("format"),
    help: ArgumentHelp("What thumbnails are written as. Default: webp.", valueName: "webp|jpeg|avif|png"))
  var wantedFormat: ThumbnailFormat?

  @Option(
    name: .customLong("fit"),
    help: ArgumentHelp(
      "Thumbnails with all of the picture (contain), or a square from its middle (cover). Default: contain.",
      valueName: "contain|cover"))
  var wantedFit: ThumbnailFit?

  var format: ThumbnailFormat { wantedFormat ?? .webp }
  var fit: ThumbnailFit { wantedFit ?? .contain }

  /// What tells two thumbnails of a picture apart: `256 contain webp`. Nil without the option.
  var transformText: String? { maxSide.map { "\($0) \(fit.rawValue) \(format.rawValue)" } }

  func validate() throws {
    guard let maxSide else {
      guard wantedFormat == nil, wantedFit == nil else {
        throw ValidationError("--format and --fit need --thumbnail: they say how thumbnails are written.")
      }
      return
    }
    guard (1...16_383).contains(maxSide) else {
      throw ValidationError("--thumbnail is a number of pixels from 1 to 16383.")
    }
    #if !Images
    throw ValidationError(
      "--thumbnail: this netspool was built without pictures; build it with 'swift build -c release --traits Images'."
    )
    #endif
  }
}

/// `--format`.
enum ThumbnailFormat: String, CaseIterable, ExpressibleByArgument {
  case webp, jpeg, avif, png

  /// What the names of files end with.
  var ending: String { self == .jpeg ? "jpg" : rawValue }
}

/// `--fit`.
enum ThumbnailFit: String, CaseIterable, ExpressibleByArgument {
  case contain, cover
}
