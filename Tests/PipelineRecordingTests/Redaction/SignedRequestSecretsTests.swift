#if Crypto || canImport(CryptoKit)
import Foundation
import HTTPTypes
import Pipeline
import PipelinePlugins
import PipelineRecording
import PipelineTesting
import Synchronization
import TestSupport
import Testing

@Suite("Secrets of signed requests")
struct SignedRequestSecretsTests {
    private static let secret = "canary-key-5d1f"
    private static let token = "canary-token/8c2e+=="
    private let folder: TemporaryFolder
    private let texts = Texts()

    private final class Texts: Sendable {
        private let state = Mutex<[String]>([])
        var all: [String] { state.withLock { $0 } }

        func add(_ text: String) { state.withLock { $0.append(text) } }

        func addForms(of value: Any) {
            var dumped = ""
            dump(value, to: &dumped)
            for text in [dumped, "\(value)", String(reflecting: value)] { add(text) }
        }
    }

    init() throws { folder = try TemporaryFolder() }

    private static func awsSigner(_ placement: AWSSigner.Placement) -> AWSSigner {
        AWSSigner(region: "r", service: "s3", placement: placement) { _ in
            AWSCredentials(accessKeyID: "AKID", secretAccessKey: secret, sessionToken: token)
        }
    }

    /// Returns the signature that a request carries.
    private static func signature(of request: PipelineRequest) -> String? {
        if let webhook = request.header("webhook-signature") { return String(webhook.dropFirst("v1,".count)) }
        let text = request.headers[.authorization] ?? request.query ?? ""
        guard let name = text.firstRange(of: "Signature=") else { return nil }
        return String(text[name.upperBound...].prefix { $0 != "&" })
    }

    /// Responds with a redirect that repeats the query, and with texts that repeat what was sent.
    private static func step(_ request: PipelineRequest, _ index: Int) -> ScriptedTransport.Step {
        let names = ["Authorization", "X-Amz-Security-Token", "webhook-signature"]
        let echo = (names.compactMap(request.header) + [request.query ?? ""]).joined(separator: " ")
        switch index {
        case 0: return .status(503, body: "\(echo)")
        case 1: return .status(302, headers: [.location: "/c?\(request.query ?? "")"])
        case 2:
            let error = "<Error><SignatureProvided>\(signature(of: request) ?? "")</SignatureProvided></Error>"
            return .status(403, headers: [.contentType: "application/xml"], body: "\(error)")
        default: return .failure(PipelineError(.connectionLost, "the server closed the connection"))
        }
    }

    private func send(_ plugins: [any PluginType], _ transport: RecordingTransport) async throws {
        let clock = ManualClock()
        let provider = Provider<Probe>(
            transport: transport,
            plugins: plugins,
            configuration: .init(clock: clock, timeline: true)
        )
        let base = try #require(URL(string: "https://api.example"))
        try await clock.run {
            for _ in 1...2 {
                do {
                    let response = try await provider.request(Probe(base, "/b", method: .put))
                    texts.addForms(of: response)
                    texts.addForms(of: response.timeline as Any)
                    texts.add(response.request.curlCommand())
                } catch let error as PipelineError {
                    for text in [error.description, error.localizedDescription, String(reflecting: error)] {
                        texts.add(text)
                    }
                }
            }
        }
        texts.addForms(of: provider)
        texts.add("\(provider.explain())")
    }

    private func expectNoSecret(_ signer: some RequestSigner) async throws {
        let file = folder.file("calls.har")
        let scripted = ScriptedTransport(Self.step)
        let transport = try RecordingTransport(file, wrapping: scripted, mode: .recordAll)
        let inspector = InspectorPlugin(.file(folder.file("calls.html")))
        let (texts, retry) = (texts, RetryPlugin(backoff: .constant(.seconds(1))))
        let lines = [LoggingPlugin.Form.lines, .curl, .summary].map { form in
            LoggingPlugin(level: .trace, form: form) { _, line in texts.add(line) }
        }
        try await send([inspector] + lines + [retry, SigningPlugin(signer)], transport)
        texts.addForms(of: signer)
        let page = try await inspector.page()
        try await transport.finish()
        for url in [file, page] { texts.add(try String(contentsOf: url, encoding: .utf8)) }

        let signatures = scripted.sent.compactMap(Self.signature)
        #expect(signatures.count == scripted.sent.count && signatures.count > 3)
        for value in [Self.secret, Self.token] + signatures {
            let redactor = Redactor(secretValues: [value])
            for text in texts.all where redactor.containsSecret(in: text.utf8) {
                Issue.record("\(value) is in \(text.prefix(1000))")
            }
        }
    }

    @Test("F06 nothing shows the key, the session token or a signature of AWS in header fields")
    func fields() async throws { try await expectNoSecret(Self.awsSigner(.header)) }

    @Test("F06 nothing shows the key, the session token or a signature of AWS in the query")
    func query() async throws { try await expectNoSecret(Self.awsSigner(.query(expires: .seconds(60)))) }

    @Test("F06 nothing shows the secret or a signature of a webhook")
    func webhooks() async throws {
        let secret = Data("\(Self.secret) of a webhook".utf8).base64EncodedString()
        try await expectNoSecret(WebhookSigner(keys: [try WebhookKey("whsec_" + secret)]))
    }
}
#endif
