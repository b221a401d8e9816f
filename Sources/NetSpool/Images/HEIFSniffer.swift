/// AVIF (AV1 Image File Format) and HEIF (ISO/IEC 23008-12): boxes, `ftyp` first.
///
/// `meta` tells where everything is: `pitm` names the primary item, `iprp` holds its size, `iloc` says in
/// which bytes of the file the items are. Whether a file is complete is therefore asked of `iloc`:
/// a file cut between two boxes looks whole to those who only walk the boxes. Image sequences also
/// need their `moov`, whose samples are not looked at: the `mdat` boxes have to be whole.
struct HEIFSniffer {
  private var meta: HEIFMeta?
  private var hasMovie = false
  private var isWhole = true

  static func sniff(_ bytes: ImageBytes, as format: ImageFormat) -> ImageInfo? {
    var sniffer = Self()
    sniffer.walk(bytes)
    guard let meta = sniffer.meta, let size = meta.primarySize(bytes) else { return nil }
    let hasMovie = sniffer.hasMovie || !isSequence(bytes)
    let isComplete = sniffer.isWhole && hasMovie && meta.itemsAreWhole(bytes)
    return ImageInfo(format: format, pixelSize: size, isComplete: isComplete)
  }

  /// Goes over the boxes of the file up to its end, to a box that is cut off, or to what is no box: junk
  /// behind an image is not the image's fault.
  private mutating func walk(_ bytes: ImageBytes) {
    var offset = 0
    while let box = ISOBox(bytes, at: offset, limit: bytes.count), Self.known.contains(box.type) {
      isWhole = box.isWhole
      guard isWhole else { return }
      take(box)
      offset = box.content.upperBound
    }
  }

  private mutating func take(_ box: ISOBox) {
    switch box.type {
    case "meta": meta = meta ?? HEIFMeta(box)
    case "moov": hasMovie = true
    default: break
    }
  }

  /// The boxes that may stand at the top of a file (ISO/IEC 14496-12, table 1).
  private static let known: Set<FourCC> = [
    "ftyp", "meta", "mdat", "moov", "free", "skip", "uuid", "wide", "styp", "etyp", "pdin", "moof", "mfra",
    "meco", "sidx", "ssix", "prft", "emsg", "imda",
  ]
}

extension HEIFSniffer {
  /// The format by the brands of `ftyp`: the major one first; if it names no codec, those it is compatible with.
  static func format(_ bytes: ImageBytes) -> ImageFormat? {
    guard let box = ISOBox(bytes, at: 0, limit: bytes.count) else { return nil }
    if let format = bytes.code(box.content.lowerBound).flatMap(codecFormat) { return format }
    var generic: ImageFormat?
    for offset in brandOffsets(box) {
      guard let brand = bytes.code(offset) else { break }
      if let format = codecFormat(brand) { return format }
      if brand == "mif1" || brand == "msf1" { generic = .heif }
    }
    return generic
  }

  /// Major brand, minor version (no brand), compatible brands; more than 64 of them nobody has.
  private static func brandOffsets(_ box: ISOBox) -> some Sequence<Int> {
    let start = box.content.lowerBound
    let end = min(box.content.upperBound - 3, start + 4 * 66)
    return stride(from: start, to: end, by: 4).lazy.filter { $0 != start + 4 }
  }

  private static func codecFormat(_ brand: FourCC) -> ImageFormat? {
    switch brand {
    case "avif", "avis": .avif
    case "heic", "heix", "heim", "heis", "hevc", "hevx", "hevm", "hevs": .heif
    default: nil
    }
  }

  private static func isSequence(_ bytes: ImageBytes) -> Bool {
    switch bytes.code(8) {
    case "avis", "msf1", "hevc", "hevx", "hevm", "hevs": true
    default: false
    }
  }
}
