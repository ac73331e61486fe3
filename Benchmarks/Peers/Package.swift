// swift-tools-version: 6.2
import PackageDescription

// The folder with checkouts of swift-openapi-runtime and swift-openapi-async-http-client. This repository contains none
// of their code.
let peers = Context.environment["PEERS"] ?? "PEERS-is-not-set"

let package = Package(
    name: "Peers",
    platforms: [.macOS(.v15)],
    dependencies: [
        .package(name: "Pipeline", path: "../..", traits: ["AsyncHTTPClient"]),
        .package(path: "\(peers)/swift-openapi-runtime"),
        .package(path: "\(peers)/swift-openapi-async-http-client"),
        .package(url: "https://github.com/swift-server/async-http-client", from: "1.37.0"),
        .package(url: "https://github.com/apple/swift-http-types", from: "1.8.0"),
        .package(url: "https://github.com/apple/swift-nio", from: "2.101.0"),
    ],
    targets: [
        // peers/Measuring is a link to sources of Benchmarks.
        .executableTarget(
            name: "peers",
            dependencies: [
                .product(name: "AsyncHTTPClient", package: "async-http-client"),
                .product(name: "HTTPTypes", package: "swift-http-types"),
                .product(name: "NIOCore", package: "swift-nio"),
                .product(name: "NIOHTTP1", package: "swift-nio"),
                .product(name: "OpenAPIAsyncHTTPClient", package: "swift-openapi-async-http-client"),
                .product(name: "OpenAPIRuntime", package: "swift-openapi-runtime"),
                .product(name: "Pipeline", package: "Pipeline"),
                .product(name: "PipelineAllocations", package: "Pipeline"),
                .product(name: "PipelineTransports", package: "Pipeline"),
            ],
            swiftSettings: [
                .enableUpcomingFeature("ExistentialAny"),
                .enableUpcomingFeature("NonisolatedNonsendingByDefault"),
            ]
        )
    ],
    swiftLanguageModes: [.v6]
)
