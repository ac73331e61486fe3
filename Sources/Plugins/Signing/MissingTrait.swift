#if !Crypto && !canImport(CryptoKit)
public import Foundation
public import PipelineCore

// Without the trait, a use does not compile, and the error says what is missing.

/// Unavailable: needs the package trait `Crypto`.
public struct AWSSigner: RequestSigner {
    /// Unavailable: needs the package trait `Crypto`.
    @available(*, unavailable, message: "add traits: [\"Crypto\"] to .package(…) of Pipeline in Package.swift")
    public init(
        region: String,
        service: String,
        signsBody: Bool = true,
        credentials: @escaping @Sendable (_ context: PipelineContext) async throws -> AWSCredentials
    ) {}

    /// Adds nothing, and is never called.
    public func sign(_ request: inout PipelineRequest, context: PipelineContext) {}
}

/// Unavailable: needs the package trait `Crypto`.
public struct AWSCredentials: Sendable {
    /// Unavailable: needs the package trait `Crypto`.
    @available(*, unavailable, message: "add traits: [\"Crypto\"] to .package(…) of Pipeline in Package.swift")
    public init(accessKeyID: String, secretAccessKey: String, sessionToken: String? = nil) {}
}

/// Unavailable: needs the package trait `Crypto`.
public struct MessageSigningKey: Sendable {
    /// Unavailable: needs the package trait `Crypto`.
    @available(*, unavailable, message: "add traits: [\"Crypto\"] to .package(…) of Pipeline in Package.swift")
    public init(pem: String, algorithm: MessageSignatureAlgorithm) throws {}

    /// Unavailable: needs the package trait `Crypto`.
    @available(*, unavailable, message: "add traits: [\"Crypto\"] to .package(…) of Pipeline in Package.swift")
    public init(der: Data, algorithm: MessageSignatureAlgorithm) throws {}

    /// Unavailable: needs the package trait `Crypto`.
    @available(*, unavailable, message: "add traits: [\"Crypto\"] to .package(…) of Pipeline in Package.swift")
    public init(rawRepresentation: Data, algorithm: MessageSignatureAlgorithm) throws {}
}

/// Unavailable: needs the package trait `Crypto`.
public struct MessageVerificationKey: Sendable {
    /// Unavailable: needs the package trait `Crypto`.
    @available(*, unavailable, message: "add traits: [\"Crypto\"] to .package(…) of Pipeline in Package.swift")
    public init(pem: String, algorithm: MessageSignatureAlgorithm) throws {}

    /// Unavailable: needs the package trait `Crypto`.
    @available(*, unavailable, message: "add traits: [\"Crypto\"] to .package(…) of Pipeline in Package.swift")
    public init(der: Data, algorithm: MessageSignatureAlgorithm) throws {}

    /// Unavailable: needs the package trait `Crypto`.
    @available(*, unavailable, message: "add traits: [\"Crypto\"] to .package(…) of Pipeline in Package.swift")
    public init(rawRepresentation: Data, algorithm: MessageSignatureAlgorithm) throws {}
}

/// Unavailable: needs the package trait `Crypto`.
public struct WebhookKey: Sendable {
    /// Unavailable: needs the package trait `Crypto`.
    @available(*, unavailable, message: "add traits: [\"Crypto\"] to .package(…) of Pipeline in Package.swift")
    public init(_ text: String) throws {}
}

/// Unavailable: needs the package trait `Crypto`.
public struct WebhookSigner: Sendable {
    /// Unavailable: needs the package trait `Crypto`.
    @available(*, unavailable, message: "add traits: [\"Crypto\"] to .package(…) of Pipeline in Package.swift")
    public init(keys: [WebhookKey]) {}
}

/// Unavailable: needs the package trait `Crypto`.
public struct WebhookVerifier: Sendable {
    /// Unavailable: needs the package trait `Crypto`.
    @available(*, unavailable, message: "add traits: [\"Crypto\"] to .package(…) of Pipeline in Package.swift")
    public init(keys: [WebhookKey], tolerance: Duration = .seconds(300)) {}
}
#endif
