// swift-tools-version: 6.2
import PackageDescription

let swiftSettings: [SwiftSetting] = [
    .enableUpcomingFeature("ExistentialAny"),
    .enableUpcomingFeature("MemberImportVisibility"),
    .enableUpcomingFeature("InternalImportsByDefault"),
    .enableUpcomingFeature("NonisolatedNonsendingByDefault"),
]

func pipeline(_ name: String) -> Target.Dependency { .product(name: name, package: "Pipeline") }

let package = Package(
    name: "caching-proxy",
    platforms: [.macOS(.v15)],
    dependencies: [
        .package(name: "Pipeline", path: "../..", traits: ["AsyncHTTPClient"]),
        .package(url: "https://github.com/swift-server/async-http-client", from: "1.37.0"),
        .package(url: "https://github.com/apple/swift-nio", from: "2.101.2"),
    ],
    targets: [
        .executableTarget(
            name: "caching-proxy",
            dependencies: [
                pipeline("Pipeline"), pipeline("PipelineCaching"),
                .product(name: "AsyncHTTPClient", package: "async-http-client"),
                .product(name: "NIOCore", package: "swift-nio"), .product(name: "NIOHTTP1", package: "swift-nio"),
                .product(name: "NIOPosix", package: "swift-nio"),
            ],
            path: "Sources",
            swiftSettings: swiftSettings
        )
    ],
    swiftLanguageModes: [.v6]
)
