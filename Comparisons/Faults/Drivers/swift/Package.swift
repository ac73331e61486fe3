// swift-tools-version: 6.2
import PackageDescription

let swiftSettings: [SwiftSetting] = [
    .enableUpcomingFeature("ExistentialAny"),
    .enableUpcomingFeature("InternalImportsByDefault"),
    .enableUpcomingFeature("NonisolatedNonsendingByDefault"),
]
let asyncHTTPClient: [Target.Dependency] = [
    .product(name: "AsyncHTTPClient", package: "async-http-client"),
    .product(name: "NIOCore", package: "swift-nio"),
    .product(name: "NIOSSL", package: "swift-nio-ssl"),
]

// The folder of a checkout of Alamofire, which ../../setup makes; without it, its driver is not built.
let alamofire = Context.environment["ALAMOFIRE"]

let package = Package(
    name: "FaultDrivers",
    platforms: [.macOS(.v15)],
    dependencies: [
        .package(name: "Pipeline", path: "../../../..", traits: ["AsyncHTTPClient"]),
        .package(url: "https://github.com/swift-server/async-http-client", exact: "1.37.0"),
        .package(url: "https://github.com/apple/swift-nio", from: "2.101.2"),
        .package(url: "https://github.com/apple/swift-nio-ssl", from: "2.37.6"),
    ] + (alamofire.map { [.package(path: $0)] } ?? []),
    targets: [
        // Has a link to the SHA-256 of the repository.
        .target(name: "Driving", swiftSettings: swiftSettings),
        .executableTarget(
            name: "pipeline-driver",
            dependencies: asyncHTTPClient + [
                "Driving",
                .product(name: "Pipeline", package: "Pipeline"),
                .product(name: "PipelineCaching", package: "Pipeline"),
                .product(name: "PipelineResilience", package: "Pipeline"),
            ],
            swiftSettings: swiftSettings
        ),
        .executableTarget(
            name: "async-http-client-driver",
            dependencies: asyncHTTPClient + ["Driving"],
            swiftSettings: swiftSettings
        ),
        .executableTarget(name: "url-session-driver", dependencies: ["Driving"], swiftSettings: swiftSettings),
    ]
        + (alamofire == nil
            ? []
            : [
                .executableTarget(
                    name: "alamofire-driver",
                    dependencies: ["Driving", .product(name: "Alamofire", package: "Alamofire")],
                    swiftSettings: swiftSettings
                )
            ]),
    swiftLanguageModes: [.v6]
)
