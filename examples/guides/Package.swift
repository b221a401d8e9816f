// swift-tools-version: 6.2
import PackageDescription

let package = Package(
  name: "Guides",
  dependencies: [.package(name: "NetSpool", path: "../..")],
  targets: ["Service", "BulkJob", "OfflineQueue"].map {
    .executableTarget(
      name: $0,
      dependencies: [
        .product(name: "NetSpool", package: "NetSpool"),
        .product(name: "NetSpoolFoundation", package: "NetSpool"),
      ],
      swiftSettings: [.treatAllWarnings(as: .error)])
  },
  swiftLanguageModes: [.v6]
)
