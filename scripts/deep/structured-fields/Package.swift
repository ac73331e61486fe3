// swift-tools-version: 6.2
import PackageDescription

let package = Package(
    name: "structured-fields",
    platforms: [.macOS(.v15)],
    dependencies: [.package(url: "https://github.com/apple/swift-http-structured-headers", from: "1.7.0")],
    targets: [
        .executableTarget(
            name: "structured-fields",
            dependencies: [.product(name: "RawStructuredFieldValues", package: "swift-http-structured-headers")],
            swiftSettings: [.enableUpcomingFeature("ExistentialAny")]
        )
    ]
)
