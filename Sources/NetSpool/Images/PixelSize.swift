/// Width and height in pixels, each 1 to 2,147,483,647: the bound of PNG, and of any decoder.
///
/// It is the size as stored: before the orientation of EXIF or of HEIF's `irot` is applied, and before
/// HEIF's `clap` crops. For GIF and animated WebP it is the canvas.
struct PixelSize: Sendable, Hashable {
  let width: Int
  let height: Int

  /// Nil when a side is zero or out of bounds: nothing could be shown.
  init?(width: Int?, height: Int?) {
    guard let width, let height, Self.sides.contains(width), Self.sides.contains(height) else { return nil }
    self.width = width
    self.height = height
  }

  private static let sides = 1...Int(Int32.max)
}
