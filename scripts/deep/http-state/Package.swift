// swift-tools-version: 6.2
import PackageDescription

let package = Package(
    name: "http-state",
    platforms: [.macOS(.v15)],
    dependencies: [.package(name: "Pipeline", path: "../../..")],
    targets: [
        .executableTarget(
            name: "http-state",
            dependencies: [.product(name: "PipelineCaching", package: "Pipeline")],
            swiftSettings: [
                .enableUpcomingFeature("ExistentialAny"),
                .enableUpcomingFeature("NonisolatedNonsendingByDefault"),
            ]
        )
    ]
)
