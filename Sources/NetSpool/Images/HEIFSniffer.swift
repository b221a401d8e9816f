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

  /// Reads the major brand, the minor version (no brand) and the compatible brands, at most 64 of them.
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

/// The `meta` box of a HEIF file: which item is the image, and how large it is.
///
/// - `pitm`: the primary item's id, 2 bytes in version 0, else 4
/// - `iprp` holds `ipco`, the properties in a row, and `ipma`, which assigns them to items by their number in
///   that row, counted from 1; `ispe` among them is width and height, 4 bytes each
///
/// A file has many `ispe`: those of tiles and thumbnails. Only the primary item's is the image's.
struct HEIFMeta {
  /// The boxes inside.
  private let content: Range<Int>

  init?(_ box: ISOBox) {
    guard box.content.count >= 4 else { return nil }
    content = box.content.dropFirst(4)
  }

  private func primaryItem(_ bytes: ImageBytes) -> Int? {
    guard let (version, _, body) = ISOBox.first("pitm", in: content, bytes)?.full(bytes) else { return nil }
    return bytes.big(body.lowerBound, width: version == 0 ? 2 : 4)
  }

  func primarySize(_ bytes: ImageBytes) -> PixelSize? {
    guard let item = primaryItem(bytes), let iprp = ISOBox.first("iprp", in: content, bytes),
      let ipco = ISOBox.first("ipco", in: iprp.content, bytes),
      let assigned = HEIFAssignment(of: item, in: iprp.content, bytes)
    else { return nil }
    return size(in: ipco.content, assigned, bytes)
  }

  private func size(in range: Range<Int>, _ assigned: HEIFAssignment, _ bytes: ImageBytes) -> PixelSize? {
    var offset = range.lowerBound
    var number = 1  // 15 bits in `ipma`: a property behind that is nobody's
    while number <= 0x7FFF, let box = ISOBox(bytes, at: offset, limit: range.upperBound), box.isWhole {
      if box.type == "ispe", assigned.contains(number, bytes) { return size(box, bytes) }
      offset = box.content.upperBound
      number += 1
    }
    return nil
  }

  private func size(_ ispe: ISOBox, _ bytes: ImageBytes) -> PixelSize? {
    guard let (_, _, body) = ispe.full(bytes), body.count >= 8 else { return nil }
    return PixelSize(
      width: bytes.big(body.lowerBound, width: 4), height: bytes.big(body.lowerBound + 4, width: 4))
  }

  /// Every byte that an item is made of is in the file.
  func itemsAreWhole(_ bytes: ImageBytes) -> Bool {
    guard let iloc = ISOBox.first("iloc", in: content, bytes), var items = HEIFLocations(iloc, bytes) else {
      return false
    }
    let idat = ISOBox.first("idat", in: content, bytes)?.content.count ?? 0
    return items.areWithin(file: bytes.count, idat: idat, bytes)
  }
}
