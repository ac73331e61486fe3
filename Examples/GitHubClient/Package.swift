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
    name: "github",
    platforms: [.macOS(.v15)],
    dependencies: [
        .package(name: "Pipeline", path: "../..", traits: ["AsyncHTTPClient", "SQLite"]),
        .package(url: "https://github.com/apple/swift-argument-parser", from: "1.8.0"),
    ],
    targets: [
        .executableTarget(
            name: "github",
            dependencies: [
                pipeline("Pipeline"), pipeline("PipelineResilience"), pipeline("PipelineCaching"),
                pipeline("PipelineRecording"),
                .product(name: "ArgumentParser", package: "swift-argument-parser"),
            ],
            path: "Sources",
            resources: [.embedInCode("Recording/github.har")],
            swiftSettings: swiftSettings
        )
    ],
    swiftLanguageModes: [.v6]
)
