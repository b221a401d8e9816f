/// AVIF (AV1 Image File Format) and HEIF (ISO/IEC 23008-12): boxes, `ftyp` first.
///
/// `meta` tells where everything is: `pitm` names the primary item, `iprp` holds its size, `iloc` says in
/// which bytes of the file the items are. Whether a file is complete is therefore asked of `iloc`:
/// a file cut between two boxes looks whole to a reader that only walks the boxes. Image sequences also
/// need their `moov`, whose samples are not looked at: the `mdat` boxes have to be whole.
struct HEIFSniffer {
  private var meta: HEIFMeta?
  private var hasMovie = false
  private var isWhole = true

  static func sniff(_ bytes: ImageBytes, as format: ImageFormat) -> ImageInfo? {
    var sniffer = Self()
    sniffer.walk(bytes)
    guard let meta = sniffer.meta, let (size, shown) = meta.primarySizes(bytes) else { return nil }
    let hasMovie = sniffer.hasMovie || !isSequence(bytes)
    let isComplete = sniffer.isWhole && hasMovie && meta.itemsAreWhole(bytes)
    return ImageInfo(format: format, pixelSize: size, shownSize: shown, isComplete: isComplete)
  }

  /// Goes over the boxes of the file up to its end, to a box that is cut off, or to what is no box: junk
  /// behind an image is not the image's fault.
  private mutating func walk(_ bytes: ImageBytes) {
    var offset = 0
    while let box = ISOBox(bytes, at: offset, limit: bytes.count), Self.known.contains(box.type) {
      isWhole = box.isWhole
      guard isWhole else { return }
      if box.type == "meta" { meta = meta ?? HEIFMeta(box) }
      if box.type == "moov" { hasMovie = true }
      offset = box.content.upperBound
    }
  }

  /// The boxes that may stand at the top of a file (ISO/IEC 14496-12, table 1).
  private static let known: Set<FourCC> = [
    "ftyp", "meta", "mdat", "moov", "free", "skip", "uuid", "wide", "styp", "etyp", "pdin", "moof", "mfra",
    "meco", "sidx", "ssix", "prft", "emsg", "imda",
  ]

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
///   that row, counted from 1; among them `ispe`, width and height, 4 bytes each, and `clap`, what is shown of it: width and
///   height, two fractions of 4 and 4 bytes each, then where it lies
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

  /// How large the image is, and how large what is shown of it.
  func primarySizes(_ bytes: ImageBytes) -> (stored: PixelSize, shown: PixelSize)? {
    guard let item = primaryItem(bytes), let iprp = ISOBox.first("iprp", in: content, bytes),
      let ipco = ISOBox.first("ipco", in: iprp.content, bytes),
      let assigned = HEIFAssignment(of: item, in: iprp.content, bytes)
    else { return nil }
    return sizes(in: ipco.content, assigned, bytes)
  }

  private func sizes(
    in range: Range<Int>, _ assigned: HEIFAssignment, _ bytes: ImageBytes
  ) -> (stored: PixelSize, shown: PixelSize)? {
    var offset = range.lowerBound
    var number = 1  // 15 bits in `ipma`: a property behind that is nobody's
    var (stored, crop): (PixelSize?, ISOBox?)
    while number <= 0x7FFF, let box = ISOBox(bytes, at: offset, limit: range.upperBound), box.isWhole {
      if stored == nil, box.type == "ispe", assigned.contains(number, bytes) {
        guard let size = size(box, bytes) else { return nil }
        stored = size
      }
      if crop == nil, box.type == "clap", assigned.contains(number, bytes) { crop = box }
      offset = box.content.upperBound
      number += 1
    }
    guard let stored else { return nil }
    return (stored, crop.flatMap { cropped(stored, to: $0, bytes) } ?? stored)
  }

  private func size(_ ispe: ISOBox, _ bytes: ImageBytes) -> PixelSize? {
    guard let (_, _, body) = ispe.full(bytes), body.count >= 8 else { return nil }
    return PixelSize(
      width: bytes.big(body.lowerBound, width: 4), height: bytes.big(body.lowerBound + 4, width: 4))
  }

  /// Fractions to the nearest pixel, and never more than there is. Nil for what makes no sense, which crops nothing.
  private func cropped(_ stored: PixelSize, to clap: ISOBox, _ bytes: ImageBytes) -> PixelSize? {
    let start = clap.content.lowerBound
    guard clap.content.count >= 32, let width = fraction(at: start, bytes),
      let height = fraction(at: start + 8, bytes)
    else { return nil }
    return PixelSize(width: min(width, stored.width), height: min(height, stored.height))
  }

  private func fraction(at offset: Int, _ bytes: ImageBytes) -> Int? {
    guard let above = bytes.big(offset, width: 4), let below = bytes.big(offset + 4, width: 4), below > 0
    else { return nil }
    return (above + below / 2) / below
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

/// The positions of the items in a HEIF file: the box `iloc` (ISO/IEC 14496-12 section 8.11.3).
///
/// Full box; widths in bytes of offsets, lengths, base offsets and (version 1 and 2) extent indices, 4 bits
/// each; number of items (2 bytes, in version 2 4); each: id (likewise), in version 1 and 2 the construction
/// method (2 bytes, low 4 bits: 0 in the file, 1 in `idat`, 2 in another item), data reference (2), base
/// offset, number of extents (2); each: index, offset, length. A length of no bytes or of 0 means up to the
/// end.
struct HEIFLocations {
  private let version: UInt8
  private let widths: (offset: Int, length: Int, base: Int, index: Int)
  private let end: Int
  private var itemsLeft: Int
  private var position: Int

  init?(_ iloc: ISOBox, _ bytes: ImageBytes) {
    guard let (version, _, body) = iloc.full(bytes), version <= 2,
      let nibbles = bytes.big(body.lowerBound, width: 2),
      let items = bytes.big(body.lowerBound + 2, width: version < 2 ? 2 : 4)
    else { return nil }
    self.version = version
    widths = (nibbles >> 12, nibbles >> 8 & 15, nibbles >> 4 & 15, version == 0 ? 0 : nibbles & 15)
    end = body.upperBound
    itemsLeft = items
    position = body.lowerBound + 2 + (version < 2 ? 2 : 4)
  }

  /// All extents are inside, and there is at least one.
  mutating func areWithin(file: Int, idat: Int, _ bytes: ImageBytes) -> Bool {
    var extents = 0
    while itemsLeft > 0 {
      guard let item = nextItem(bytes) else { return false }
      let limit = item.method == 0 ? file : item.method == 1 ? idat : Int.max
      guard nextExtentsAreWithin(limit, item, bytes) else { return false }
      extents += item.extents
      itemsLeft -= 1
    }
    return extents > 0
  }

  private typealias Item = (method: Int, base: Int, extents: Int)

  /// The next number of so many bytes, if it is inside the box.
  private mutating func number(_ width: Int, _ bytes: ImageBytes) -> Int? {
    guard position <= end - width, let value = bytes.big(position, width: width) else { return nil }
    position += width
    return value
  }

  private mutating func nextItem(_ bytes: ImageBytes) -> Item? {
    guard number(version < 2 ? 2 : 4, bytes) != nil,
      let method = number(version == 0 ? 0 : 2, bytes), number(2, bytes) != nil,
      let base = number(widths.base, bytes), let extents = number(2, bytes)
    else { return nil }
    return (method & 15, base, extents)
  }

  /// Extents that take no bytes are all alike, so one look is enough: their number must not cost time.
  private mutating func nextExtentsAreWithin(_ limit: Int, _ item: Item, _ bytes: ImageBytes) -> Bool {
    let isEmpty = widths.index + widths.offset + widths.length == 0
    for _ in 0..<(isEmpty ? min(item.extents, 1) : item.extents) {
      guard number(widths.index, bytes) != nil, let offset = number(widths.offset, bytes),
        let length = number(widths.length, bytes)
      else { return false }
      guard Self.fits(item.base, offset, max(length, 1), limit) else { return false }
    }
    return true
  }

  private static func fits(_ base: Int, _ offset: Int, _ length: Int, _ limit: Int) -> Bool {
    base <= limit && offset <= limit - base && length <= limit - base - offset
  }
}

/// The properties that `ipma` assigns to one item (ISO/IEC 23008-12 section 9.3).
///
/// Full box; number of entries (4 bytes); each: item id (2 bytes in version 0, else 4), number of
/// associations (1), associations of 1 byte, or of 2 with flag 1, whose top bit says "essential" and the rest
/// is the property's number. The list is read in place each time: at most 255 entries.
struct HEIFAssignment {
  private let start: Int
  private let count: Int
  private let width: Int

  /// Looks for the item in all `ipma` boxes of the range.
  init?(of item: Int, in range: Range<Int>, _ bytes: ImageBytes) {
    var rest = range
    while let box = ISOBox.first("ipma", in: rest, bytes) {
      if let found = Self(of: item, in: box, bytes) {
        self = found
        return
      }
      rest = box.content.upperBound..<range.upperBound
    }
    return nil
  }

  private init?(of item: Int, in ipma: ISOBox, _ bytes: ImageBytes) {
    guard let (version, flags, body) = ipma.full(bytes) else { return nil }
    let idWidth = version == 0 ? 2 : 4
    width = flags & 1 == 0 ? 1 : 2
    var offset = body.lowerBound + 4
    while offset < body.upperBound, let id = bytes.big(offset, width: idWidth),
      let count = bytes.byte(offset + idWidth)
    {
      let next = offset + idWidth + 1 + Int(count) * width
      if id == item && next <= body.upperBound {
        self.count = Int(count)
        start = next - Int(count) * width
        return
      }
      offset = next
    }
    return nil
  }

  func contains(_ number: Int, _ bytes: ImageBytes) -> Bool {
    let mask = width == 1 ? 0x7F : 0x7FFF
    return (0..<count).contains { index in
      bytes.big(start + index * width, width: width).map { $0 & mask == number } ?? false
    }
  }
}
