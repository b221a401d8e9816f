// swift-tools-version: 6.2
import PackageDescription

let strict: [SwiftSetting] = [.treatAllWarnings(as: .error)]
let foundation: [Target.Dependency] = ["NetSpool", .product(name: "NetSpoolFoundation", package: "NetSpool")]

let package = Package(
  name: "Programs",
  dependencies: [.package(name: "NetSpool", path: "../..", traits: ["Images"])],
  targets: [
    .executableTarget(name: "Rates", dependencies: foundation, swiftSettings: strict),
    .executableTarget(name: "Upload", dependencies: ["NetSpool"], swiftSettings: strict),
    .executableTarget(name: "Download", dependencies: ["NetSpool"], swiftSettings: strict),
    .executableTarget(
      name: "Thumbnails", dependencies: foundation + [.product(name: "NetSpoolImages", package: "NetSpool")],
      swiftSettings: strict),
    .executableTarget(name: "Flickr", dependencies: foundation, swiftSettings: strict),
    .executableTarget(name: "Prefetch", dependencies: ["NetSpool"], swiftSettings: strict),
    .executableTarget(name: "Crawl", dependencies: ["NetSpool"], swiftSettings: strict),
  ],
  swiftLanguageModes: [.v6]
)
