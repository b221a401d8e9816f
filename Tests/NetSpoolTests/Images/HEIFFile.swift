/// Writes HEIF and AVIF files: one property row, items with their properties and places.
struct HEIFFile {
  struct Item {
    var id: Int
    /// Numbers of properties, from 1.
    var properties: [Int]
    /// Bytes in `mdat`, in pieces; or, if `inMeta`, in `idat`.
    var pieces: [Int]
    var inMeta = false
  }

  var brands: [String]
  var primary: Int
  /// Width and height of each `ispe`; nil stands for another property.
  var sizes: [(Int, Int)?]
  var items: [Item]
  /// The parts of a `clap`, which is the property behind all others.
  var crop: [Int]?
  /// Versions of `pitm`, `ipma` and `iloc`, and whether `ipma` has long associations.
  var pitm = 0
  var ipma = 0
  var iloc = 0
  var hasLongAssociations = false
  /// Boxes between `meta` and `mdat`, and behind.
  var between: [UInt8] = []
  var behind: [UInt8] = []
  /// The size that `mdat` states: its own, 1 (then 8 bytes more say it), or 0 (up to the end).
  var mdatSize: Int?

  static func box(_ type: String, _ content: [UInt8]) -> [UInt8] {
    big(content.count + 8, 4) + ascii(type) + content
  }

  static func full(_ type: String, version: Int = 0, flags: Int = 0, _ content: [UInt8]) -> [UInt8] {
    box(type, join([UInt8(version)], big(flags, 3), content))
  }

  var bytes: [UInt8] {
    let data = [UInt8](repeating: 0xDA, count: items.filter { !$0.inMeta }.flatMap(\.pieces).reduce(0, +))
    // The places need as much room whatever they are.
    let start = ftyp.count + meta(0).count + between.count + (mdatSize == 1 ? 16 : 8)
    return ftyp + meta(start) + between + mdat(data) + behind
  }

  private var ftyp: [UInt8] {
    Self.box("ftyp", join(ascii(brands[0]), big(0, 4), brands.dropFirst().flatMap(ascii)))
  }

  private func mdat(_ data: [UInt8]) -> [UInt8] {
    switch mdatSize {
    case 1: big(1, 4) + ascii("mdat") + big(data.count + 16, 8) + data
    case let size?: big(size, 4) + ascii("mdat") + data
    case nil: Self.box("mdat", data)
    }
  }

  private func meta(_ start: Int) -> [UInt8] {
    let hdlr = Self.full("hdlr", join(big(0, 4), ascii("pict"), big(0, 13)))
    let pitm = Self.full("pitm", version: self.pitm, big(primary, self.pitm == 0 ? 2 : 4))
    return Self.full("meta", hdlr + pitm + places(start) + Self.box("iprp", properties + assignments) + idat)
  }

  private var idat: [UInt8] {
    let count = items.filter(\.inMeta).flatMap(\.pieces).reduce(0, +)
    return count == 0 ? [] : Self.box("idat", [UInt8](repeating: 0x1D, count: count))
  }

  private var properties: [UInt8] {
    Self.box(
      "ipco",
      sizes.flatMap { size in
        guard let (width, height) = size else { return Self.full("pixi", [3, 8, 8, 8]) }
        return Self.full("ispe", join(big(width, 4), big(height, 4)))
      } + (crop.map { Self.box("clap", $0.flatMap { big($0, 4) }) } ?? []))
  }

  private var assignments: [UInt8] {
    let width = hasLongAssociations ? 2 : 1
    let entries = items.map { item in
      let numbers = item.properties.map { big($0 | 0x80 << (8 * (width - 1)), width) }
      return big(item.id, ipma == 0 ? 2 : 4) + [UInt8(numbers.count)] + numbers.flatMap { $0 }
    }
    let flags = hasLongAssociations ? 1 : 0
    return Self.full("ipma", version: ipma, flags: flags, join(big(entries.count, 4), entries.flatMap { $0 }))
  }

  /// Offsets and lengths have 4 bytes, bases 8, indices (where the version has them) 4.
  private func places(_ start: Int) -> [UInt8] {
    let wide = iloc < 2 ? 2 : 4
    var next = (file: start, meta: 0)
    let entries = items.map { item in
      let head = big(item.id, wide) + (iloc == 0 ? [] : big(item.inMeta ? 1 : 0, 2)) + big(0, 2)
      let base = item.inMeta ? next.meta : next.file
      let extents = item.pieces.indices.flatMap { piece in
        (iloc == 0 ? [] : big(0, 4)) + big(item.pieces[..<piece].reduce(0, +), 4) + big(item.pieces[piece], 4)
      }
      let length = item.pieces.reduce(0, +)
      if item.inMeta { next.meta += length } else { next.file += length }
      return head + big(base, 8) + big(item.pieces.count, 2) + extents
    }
    let widths: [UInt8] = [0x44, iloc == 0 ? 0x80 : 0x84]
    return Self.full("iloc", version: iloc, widths + big(entries.count, wide) + entries.flatMap { $0 })
  }
}
