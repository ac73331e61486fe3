import Foundation
import Pipeline
import Testing

/// The servers that `scripts/tls-servers` starts; the script documents each of them.
enum TLSServers {
    /// The certificate of the authority of all good servers, or `nil` in a plain `swift test`.
    static let authority = value("CA")
    /// The certificate of an authority that the system does not trust.
    static let otherAuthority = value("OTHER_CA") ?? ""
    static let clientCertificate = value("CLIENT_CERTIFICATE") ?? ""
    static let clientKey = value("CLIENT_KEY") ?? ""
    static let pkcs12 = value("CLIENT_PKCS12") ?? ""
    /// The pin of the good servers' key, and that of a key no server has.
    static let (pin, otherPin) = (value("PIN") ?? "", value("OTHER_PIN") ?? "")

    /// The pin of the key of a server with its own.
    static func pin(of name: String) -> String { value(name + "_PIN") ?? "" }

    /// The paths of the certificate and the key of a client.
    static func identity(_ name: String) throws -> (chain: String, key: String) {
        (try #require(value(name + "_CERTIFICATE")), try #require(value(name + "_KEY")))
    }

    static func file(_ path: String) throws -> Data { try Data(contentsOf: URL(filePath: path)) }

    /// Whether the system's bundle contains the authority, because URLSession cannot be given one.
    static let isTrustedBySystem = value("SYSTEM_TRUST") == "1"

    /// The address of a server.
    static func url(_ name: String) -> URL {
        value(name + "_URL").flatMap { URL(string: $0) } ?? URL(filePath: "/")
    }

    /// The log of an openssl server, which contains what it received.
    static func log(of name: String) throws -> String {
        let path = try #require(value(name + "_LOG"))
        return String(decoding: try Data(contentsOf: URL(filePath: path)), as: UTF8.self)
    }

    private static func value(_ name: String) -> String? {
        ProcessInfo.processInfo.environment["TLS_" + name]
    }
}

extension Trait where Self == ConditionTrait {
    /// Runs a suite only if there are servers.
    static var besideTLSServers: Self {
        .enabled(if: TLSServers.authority != nil, "scripts/tls-servers sets TLS_CA")
    }
}

/// nginx, with or without HTTP/2.
enum SecureServer: String, CaseIterable, CustomTestStringConvertible {
    case http2 = "HTTP2"
    case http1 = "HTTP1"

    var url: URL { TLSServers.url(rawValue) }
    var testDescription: String { rawValue }
    /// The protocol version as nginx names it.
    var version: String { self == .http2 ? "HTTP/2.0" : "HTTP/1.1" }
}

/// A target that consists only of its request.
struct SecureTarget: TargetType {
    var baseURL: URL
    var path: String
    var method: HTTPMethod = .get
    var task = RequestTask.requestPlain
    var headers: [String: String]?
}

/// The request as the server behind nginx received it.
struct SecureEcho: Decodable {
    let method: String
    let target: String
    let fields: [[String]]
    let body: String

    func values(of name: String) -> [String] {
        fields.filter { $0[0].lowercased() == name.lowercased() }.map { $0[1] }
    }
}

extension HTTPFields {
    /// The value of a field that has no name of its own in HTTPTypes.
    func text(_ name: String) -> String? {
        HTTPField.Name(name).flatMap { self[$0] }
    }
}

/// A number that a server has counted, and the digest of a body.
struct SecureCount: Decodable {
    let count: Int
    var sha256: String?
}

/// The bytes that the server behind nginx sends: 0 to 250, repeated.
func pattern(_ byteCount: Int) -> Data {
    let block = Data((0..<251 * 256).map { UInt8($0 % 251) })
    var data = Data(capacity: byteCount)
    while data.count < byteCount { data.append(block.prefix(byteCount - data.count)) }
    return data
}
