// swift-tools-version: 6.2
import PackageDescription

let package = Package(
  name: "ImageProxy",
  dependencies: [
    .package(name: "NetSpool", path: "../..", traits: ["ServiceLifecycle", "Logging", "Images"]),
    .package(url: "https://github.com/hummingbird-project/hummingbird", from: "2.5.0"),
  ],
  targets: [
    .executableTarget(
      name: "ImageProxy",
      dependencies: [
        "NetSpool", .product(name: "NetSpoolImages", package: "NetSpool"),
        .product(name: "Hummingbird", package: "hummingbird"),
      ])
  ],
  swiftLanguageModes: [.v6]
)
