// swift-tools-version: 6.2
import PackageDescription

let package = Package(
    name: "sse-contract",
    platforms: [.macOS(.v15)],
    dependencies: [
        .package(name: "Pipeline", path: "../../..", traits: ["AsyncHTTPClient"]),
    ],
    targets: [
        .executableTarget(
            name: "sse-contract",
            dependencies: [
                .product(name: "Pipeline", package: "Pipeline"),
                .product(name: "PipelineTesting", package: "Pipeline"),
            ],
            swiftSettings: [
                .enableUpcomingFeature("ExistentialAny"),
                .enableUpcomingFeature("NonisolatedNonsendingByDefault"),
            ]
        )
    ]
)
