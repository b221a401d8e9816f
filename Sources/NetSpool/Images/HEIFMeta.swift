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
