import Foundation
import Pipeline
import TestSupport
import Testing

@testable import PipelineSigning

@Suite("Exchange of signed messages", .watched)
struct MessageSignatureExchangeTests {
    private typealias Keys = SignatureVectors.Keys

    private static let folder = ProcessInfo.processInfo.environment["MESSAGE_SIGNATURES"].map { URL(filePath: $0) }
    private static let date = Date(timeIntervalSince1970: 1_800_000_000)

    private static func keyPairs() throws -> [(MessageSigningKey, MessageVerificationKey)] {
        let texts = [
            (Keys.ed25519Private, Keys.ed25519Public, MessageSignatureAlgorithm.ed25519),
            (Keys.p256Private, Keys.p256Public, .ecdsaP256SHA256),
            (Keys.rsaPSSPrivate, Keys.rsaPSSPublic, .rsaPSSSHA512),
            (Keys.rsaPSSPrivate, Keys.rsaPSSPublic, .rsaV15SHA256),
        ]
        return try texts.map {
            (try MessageSigningKey(pem: $0, algorithm: $2), try MessageVerificationKey(pem: $1, algorithm: $2))
        }
            + [
                (
                    MessageSigningKey(rawRepresentation: Keys.secret, algorithm: .hmacSHA256),
                    MessageVerificationKey(rawRepresentation: Keys.secret, algorithm: .hmacSHA256)
                )
            ]
    }

    @Test("Random requests are accepted as signed, and refused if a covered part is changed", arguments: 0..<5)
    func roundTrip(index: Int) async throws {
        let (privateKey, key) = try Self.keyPairs()[index]
        var messages = RandomMessages(seed: UInt64(index))
        for _ in 0..<20 {
            var (request, components) = try messages.makeRequest()
            let verifier = MessageVerifier(keys: { _ in key }, required: components)
            let signer = MessageSigner(components: components, key: privateKey, keyID: "k1", includesNonce: true)
            try await signer.sign(&request, at: Self.date)
            let body = try #require(request.body.bytes)
            _ = try await verifier.verify(request: request.head, body: body, at: Self.date)
            for component in components where component != .contentDigest {
                var changed = request.head
                Self.change(component, in: &changed)
                await #expect(throws: MessageSignatureError.self, "\(component)") {
                    try await verifier.verify(request: changed, body: body, at: Self.date)
                }
            }
        }
    }

    /// Changes what a component covers.
    private static func change(_ component: SignatureComponent, in head: inout HTTPRequest) {
        switch component {
        case .method: head.method = .trace
        case .authority: head.authority = "b.test"
        case .scheme: head.scheme = "ftp"
        case .targetURI, .requestTarget, .path: head.path = "/changed" + (head.path ?? "")
        default:
            if let name = HTTPField.Name(component.name) {
                head.headerFields[name] = "a=7, b=7, c=7, d=7, e=7, f=7, g=7, i=7"
            } else {
                head.path = "/?" + (head.path?.hasSuffix("?") == true ? "x" : "") + "changed"
            }
        }
    }

    // MARK: With another implementation

    private struct KeyTexts: Decodable {
        let `private`: String
        let `public`: String
    }

    private struct Head: Codable {
        var method: String
        var scheme: String
        var authority: String
        var path: String
        var fields: [[String]]

        var request: HTTPRequest {
            HTTPRequest(
                method: HTTPRequest.Method(method) ?? .get,
                scheme: scheme,
                authority: authority,
                path: path,
                headerFields: SignatureVectors.headers(fields.map { ($0[0], $0[1]) })
            )
        }
    }

    private struct Received: Decodable {
        let algorithm: String
        let body: String
        let status: Int?
        let request: Head?
        let fields: [[String]]
    }

    private struct Sent: Encodable {
        let algorithm: String
        let body: String
        let isDigested: Bool
        let method: String
        let scheme: String
        let authority: String
        let path: String
        let fields: [[String]]
    }

    private struct Verified: Encodable {
        let total: Int
        let passed: Int
        let failures: [String]
    }

    private static let algorithms: [MessageSignatureAlgorithm] = [
        .ed25519, .ecdsaP256SHA256, .ecdsaP384SHA384, .hmacSHA256, .rsaPSSSHA512, .rsaV15SHA256,
    ]

    private func keys(in folder: URL) throws -> [String: KeyTexts] {
        try JSONDecoder().decode([String: KeyTexts].self, from: Data(contentsOf: folder.appending(path: "keys.json")))
    }

    @Test("Messages that another implementation has signed are accepted", .enabled(if: folder != nil))
    func fromPeer() async throws {
        let folder = try #require(Self.folder)
        var verificationKeys: [String: MessageVerificationKey] = [:]
        for (name, texts) in try keys(in: folder) {
            let algorithm = try #require(Self.algorithms.first { $0.name == name })
            verificationKeys[name] =
                algorithm == .hmacSHA256
                ? try MessageVerificationKey(
                    rawRepresentation: SignatureVectors.data(texts.public),
                    algorithm: algorithm
                )
                : try MessageVerificationKey(pem: texts.public, algorithm: algorithm)
        }
        let data = try Data(contentsOf: folder.appending(path: "from-peer.json"))
        let messages = try JSONDecoder().decode([Received].self, from: data)
        let heads = try JSONSerialization.jsonObject(with: data) as? [[String: Any]] ?? []
        var failures: [String] = []
        for (message, head) in zip(messages, heads) {
            let key = verificationKeys[message.algorithm]
            let required: SignatureComponent = message.status == nil ? .method : .status
            let verifier = MessageVerifier(keys: { _ in key }, required: [required], maximumAge: nil)
            let fields = SignatureVectors.headers(message.fields.map { ($0[0], $0[1]) })
            let body = SignatureVectors.data(message.body)
            do {
                if let status = message.status {
                    let response = HTTPResponse(status: .init(code: status), headerFields: fields)
                    _ = try await verifier.verify(response: response, body: body, request: message.request?.request)
                } else {
                    let request = HTTPRequest(
                        method: HTTPRequest.Method(head["method"] as? String ?? "") ?? .get,
                        scheme: head["scheme"] as? String,
                        authority: head["authority"] as? String,
                        path: head["path"] as? String,
                        headerFields: fields
                    )
                    _ = try await verifier.verify(request: request, body: body)
                }
            } catch {
                failures.append("\(error): \(head)")
            }
        }
        let result = Verified(total: messages.count, passed: messages.count - failures.count, failures: failures)
        try JSONEncoder().encode(result).write(to: folder.appending(path: "verified.json"))
        #expect(failures.count == 0)
    }

    @Test("Messages are signed for another implementation", .enabled(if: folder != nil))
    func toPeer() async throws {
        let folder = try #require(Self.folder)
        let texts = try keys(in: folder)
        var random = RandomMessages(seed: 9421)
        var sent: [Sent] = []
        for index in 0..<1_000 {
            let algorithm = Self.algorithms[index % Self.algorithms.count]
            let text = try #require(texts[algorithm.name]).private
            let key =
                algorithm == .hmacSHA256
                ? try MessageSigningKey(rawRepresentation: SignatureVectors.data(text), algorithm: algorithm)
                : try MessageSigningKey(pem: text, algorithm: algorithm)
            var (request, components) = try random.makeRequest()
            let signer = MessageSigner(
                components: components,
                key: key,
                keyID: "key-\(algorithm)",
                expires: random.isTrue() ? .seconds(3_600) : nil,
                tag: random.isTrue() ? "app" : nil,
                includesNonce: random.isTrue(),
                includesAlgorithm: random.isTrue(),
                digest: random.isTrue() ? .sha256 : .sha512
            )
            try await signer.sign(&request, at: Date())
            sent.append(
                Sent(
                    algorithm: algorithm.name,
                    body: request.body.bytes?.base64EncodedString() ?? "",
                    isDigested: components.contains(.contentDigest),
                    method: request.method.rawValue,
                    scheme: request.head.scheme ?? "",
                    authority: request.head.authority ?? "",
                    path: request.head.path ?? "",
                    fields: request.headers.map { [$0.name.rawName, $0.value] }
                )
            )
        }
        try JSONEncoder().encode(sent).write(to: folder.appending(path: "from-pipeline.json"))
    }
}
