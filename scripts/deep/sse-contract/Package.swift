// swift-tools-version: 6.2
import PackageDescription

let package = Package(
    name: "sse-contract",
    platforms: [.macOS(.v15)],
    dependencies: [
        .package(name: "Pipeline", path: "../../..", traits: ["AsyncHTTPClient"]),
        .package(url: "https://github.com/apple/swift-http-types", from: "1.8.0"),
    ],
    targets: [
        .executableTarget(
            name: "sse-contract",
            dependencies: [
                .product(name: "Pipeline", package: "Pipeline"),
                .product(name: "PipelineTransports", package: "Pipeline"),
                .product(name: "PipelineTesting", package: "Pipeline"),
                .product(name: "HTTPTypes", package: "swift-http-types"),
            ],
            swiftSettings: [
                .enableUpcomingFeature("ExistentialAny"),
                .enableUpcomingFeature("NonisolatedNonsendingByDefault"),
            ]
        )
    ]
)
