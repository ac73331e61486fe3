// Types that need a package trait, in a program without it. `scripts/slips` checks that the compiler reports what each
// comment expects.

import Foundation
import Pipeline
import PipelineCaching
import PipelineInspector
import PipelineSigning
import PipelineTelemetry

func telemetry() -> [any PluginType] {
    // error: 'telemetry' is unavailable: add traits: ["Telemetry"] to .package(…) of Pipeline in Package.swift
    _ = PluginStack.standard(.telemetry)
    return [
        // error: is unavailable: add traits: ["Telemetry"] to .package(…) of Pipeline in Package.swift
        MetricsPlugin(),
        // error: is unavailable: add traits: ["Telemetry"] to .package(…) of Pipeline in Package.swift
        TracingPlugin(),
        // error: is unavailable: add traits: ["Telemetry"] to .package(…) of Pipeline in Package.swift
        TracingPlugin.Propagation(),
    ]
}

func stores(_ folder: URL) throws {
    // error: is unavailable: add traits: ["SQLite"] to .package(…) of Pipeline in Package.swift
    _ = DiskCacheStore(folder)
    // error: is unavailable: add traits: ["Redis"] to .package(…) of Pipeline in Package.swift
    _ = RedisServer(host: "127.0.0.1")
}

func inspector() {
    // error: is unavailable: add traits: ["Tools"] to .package(…) of Pipeline in Package.swift
    _ = InspectorPlugin(.loopback())
}

func transport() {
    // error: is unavailable: add traits: ["AsyncHTTPClient"] to .package(…) of Pipeline in Package.swift
    _ = Provider<URLTarget>(transport: AsyncHTTPClientTransport())
}

func signatures() throws {
    // error: is unavailable: add traits: ["Crypto"] to .package(…) of Pipeline in Package.swift
    let credentials = AWSCredentials(accessKeyID: "id", secretAccessKey: "key")
    // error: is unavailable: add traits: ["Crypto"] to .package(…) of Pipeline in Package.swift
    _ = AWSSigner(region: "eu-central-1", service: "s3") { _ in credentials }
    // error: is unavailable: add traits: ["Crypto"] to .package(…) of Pipeline in Package.swift
    let key = try WebhookKey("whsec_a2V5")
    // error: is unavailable: add traits: ["Crypto"] to .package(…) of Pipeline in Package.swift
    _ = WebhookSigner(keys: [key])
    // error: is unavailable: add traits: ["Crypto"] to .package(…) of Pipeline in Package.swift
    _ = WebhookVerifier(keys: [key])
    // error: is unavailable: add traits: ["Crypto"] to .package(…) of Pipeline in Package.swift
    _ = try MessageSigningKey(pem: "", algorithm: .ed25519)
    // error: is unavailable: add traits: ["Crypto"] to .package(…) of Pipeline in Package.swift
    _ = try MessageVerificationKey(rawRepresentation: Data(), algorithm: .hmacSHA256)
}
