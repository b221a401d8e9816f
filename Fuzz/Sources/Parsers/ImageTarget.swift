@testable import NetSpool

/// What is told of a picture without decoding it.
enum ImageTarget {
  static func run(_ bytes: [UInt8]) {
    guard let info = ImageInfo.sniff(bytes.rawBytes) else { return }
    require(info.pixelSize.width > 0 && info.pixelSize.height > 0, "a picture has a size")
    guard info.isComplete else { return }
    require(
      ImageInfo.sniff((bytes + Array("junk".utf8)).rawBytes) == info, "what follows its end is not looked at")
  }
}
