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
    name: "quickstart",
    platforms: [.macOS(.v15)],
    dependencies: [
        .package(name: "Pipeline", path: "../.."),
        .package(url: "https://github.com/swhitty/FlyingFox", from: "0.27.1"),
    ],
    targets: [
        .executableTarget(
            name: "quickstart",
            dependencies: [
                pipeline("Pipeline"), pipeline("PipelineAPI"), pipeline("PipelineAuth"), pipeline("PipelineResilience"),
                pipeline("PipelineRecording"), pipeline("PipelineInspector"), pipeline("PipelineTesting"),
                .product(name: "FlyingFox", package: "FlyingFox"), .product(name: "FlyingSocks", package: "FlyingFox"),
            ],
            path: "Sources",
            swiftSettings: swiftSettings
        )
    ],
    swiftLanguageModes: [.v6]
)
