import Foundation
public import PipelineCore
import PipelineHashes

#if AsyncHTTPClient
import NIOSSL
#endif

/// A certificate and its private key, with which a client proves its identity to a server.
///
/// ```swift
/// let identity = try ClientIdentity(pemChain: certificate, pemKey: key)
/// let transport = AsyncHTTPClientTransport(identities: ClientIdentities(["bank.example.com": identity]))
/// ```
///
/// **Errors**: `tls.configuration` if a certificate or the key cannot be read, or if they do not belong together. With
/// the package trait `AsyncHTTPClient`, everything is checked when the identity is created. Without it, only the
/// structure of PEM is.
///
/// **Secrets**: neither the description nor an error contains the key or the passphrase.
public struct ClientIdentity: Sendable {
    enum Source: Sendable {
        case pem
        case pkcs12([UInt8], passphrase: String)
        case keychain(label: String)

        var name: String {
            switch self {
            case .pem: "PEM"
            case .pkcs12: "PKCS#12"
            case .keychain: "Keychain"
            }
        }
    }

    let source: Source
    /// A text that differs for each certificate, without a secret.
    let fingerprint: String
    #if AsyncHTTPClient
    /// What NIOSSL presents; `nil` for an identity in the Keychain, which never leaves it.
    let credential: (chain: [NIOSSLCertificate], key: NIOSSLPrivateKey)?
    #endif

    /// Creates an identity from PEM.
    ///
    /// - Parameters:
    ///   - pemChain: the client's certificate, followed by intermediate certificates if the server needs them.
    ///   - pemKey: the private key, not encrypted.
    /// - Throws: `PipelineError` with code `tls.configuration`.
    public init(pemChain: some Sequence<UInt8>, pemKey: some Sequence<UInt8>) throws {
        let unreadable = Self.failure("provide the certificates and the unencrypted private key in PEM")
        let key = Array(pemKey)
        guard let chain = PEM.certificates(pemChain), PEM.hasPrivateKey(key) else { throw unreadable }
        source = .pem
        fingerprint = Self.fingerprint(of: chain.first ?? [])
        #if AsyncHTTPClient
        do {
            credential = try Self.checked(
                chain.map { try NIOSSLCertificate(bytes: $0, format: .der) },
                NIOSSLPrivateKey(bytes: key, format: .pem)
            )
        } catch {
            // The errors of the library are left out: they could describe the key.
            throw unreadable
        }
        #endif
    }

    /// Creates an identity from a PKCS#12 file (`.p12`, `.pfx`).
    ///
    /// - Parameters:
    ///   - bytes: the content of the file.
    ///   - passphrase: the passphrase of the file.
    /// - Throws: `PipelineError` with code `tls.configuration`.
    public init(pkcs12 bytes: some Sequence<UInt8>, passphrase: String) throws {
        let bytes = Array(bytes)
        let unreadable = Self.failure("provide a PKCS#12 file with a certificate and its key, and its passphrase")
        guard bytes.first == 0x30 else { throw unreadable }
        source = .pkcs12(bytes, passphrase: passphrase)
        fingerprint = Self.fingerprint(of: bytes)
        #if AsyncHTTPClient
        do {
            let bundle = try NIOSSLPKCS12Bundle(buffer: bytes, passphrase: passphrase.utf8)
            credential = try Self.checked(bundle.certificateChain, bundle.privateKey)
        } catch {
            throw unreadable
        }
        #endif
    }

    #if canImport(Security)
    private init(label: String) {
        source = .keychain(label: label)
        fingerprint = "client identity \(label)"
        #if AsyncHTTPClient
        credential = nil
        #endif
    }

    /// Returns the identity of the Keychain with a label, which is looked up when a server requests it.
    ///
    /// Only ``URLSessionTransport`` can use it.
    public static func keychain(label: String) -> ClientIdentity { ClientIdentity(label: label) }
    #endif

    #if AsyncHTTPClient
    /// Returns the credential if TLS accepts it, which includes that the key belongs to the certificate.
    private static func checked(
        _ chain: [NIOSSLCertificate],
        _ key: NIOSSLPrivateKey
    ) throws -> (chain: [NIOSSLCertificate], key: NIOSSLPrivateKey) {
        var configuration = TLSConfiguration.makeClientConfiguration()
        configuration.trustRoots = .certificates([])
        configuration.certificateChain = chain.map { .certificate($0) }
        configuration.privateKey = .privateKey(key)
        _ = try NIOSSLContext(configuration: configuration)
        return (chain, key)
    }
    #endif

    private static func fingerprint(of bytes: [UInt8]) -> String {
        "client certificate " + Data(SHA256.hash(bytes)).base64EncodedString()
    }

    private static func failure(_ remedy: String) -> PipelineError {
        PipelineError(.tls(.configuration), "the client identity cannot be read: \(remedy)")
    }
}

extension ClientIdentity: SafelyDescribed {
    /// The form in which the identity was provided.
    public var description: String { "ClientIdentity(\(source.name))" }
}
