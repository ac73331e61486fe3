import Foundation
import Pipeline
import PipelineInspector
import PipelineRecording
import PipelineTesting
import TestSupport
import Testing

@Suite("Secrets of signed requests", .watched)
struct SignedRequestSecretsTests {
    private static let key = "canary-key-5d1f"
    private static let token = "canary-token/8c2e+=="
    private let folder: TemporaryFolder
    private let texts = ShownTexts()

    init() throws { folder = try TemporaryFolder() }

    /// Responds with texts and a redirect that repeat what was sent: the head, and the signature alone.
    private static func step(
        _ request: PipelineRequest,
        _ index: Int,
        _ scheme: SigningScheme
    ) -> ScriptedTransport.Step {
        let signature = scheme.signature(of: request) ?? ""
        let lines = request.headers.map { "\($0.name): \($0.value)" } + ["\(request.head.path ?? "")", signature]
        let echo = lines.joined(separator: "\n")
        let fields: HTTPFields = [.eTag: signature, .server: lines.joined(separator: " ")]
        switch index {
        case 0: return .status(503, headers: fields, body: "\(echo)\n\(Data(echo.utf8).base64EncodedString())")
        case 1: return .status(302, headers: [.location: "/c?\(request.query ?? "")&was=\(signature)"])
        case 2:
            let error = "<Error><SignatureProvided>\(signature)</SignatureProvided><Got>\(signature)</Got></Error>"
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
                    texts.addForms(of: try #require(response.timeline))
                    texts.add(response.request.curlCommand())
                } catch let error as PipelineError {
                    texts.add(error)
                }
            }
        }
        texts.addForms(of: provider)
        texts.add("\(provider.explain())")
    }

    @Test(
        "F06 nothing shows a key, a session token or a signature, even if a server returns it",
        arguments: SigningScheme.allCases
    )
    func secrets(scheme: SigningScheme) async throws {
        try await expect(scheme, .standard) { value, texts in
            let places = texts.places(of: value)
            #expect(places == [], "\(value)")
        }
    }

    @Test(
        "F06 a log, a recording and a page that reveal secrets show signatures",
        arguments: SigningScheme.allCases
    )
    func revealed(scheme: SigningScheme) async throws {
        var shown: Set<String> = []
        try await expect(scheme, .revealingSecrets) { shown.formUnion($1.places(of: $0)) }
        #expect(shown.isSuperset(of: ["log", "calls.har", "calls.html"]))
    }

    private func expect(
        _ scheme: SigningScheme,
        _ redactor: Redactor,
        _ check: (String, ShownTexts) -> Void
    ) async throws {
        let file = folder.file("calls.har")
        let scripted = ScriptedTransport { Self.step($0, $1, scheme) }
        let transport = try RecordingTransport(file, wrapping: scripted, mode: .recordAll, redactor: redactor)
        let inspector = InspectorPlugin(.file(folder.file("calls.html")), redactor: redactor)
        let (texts, retry) = (texts, RetryPlugin(backoff: .constant(.seconds(1))))
        let lines = [LoggingPlugin.Form.lines, .curl, .summary].map { form in
            LoggingPlugin(level: .trace, redactor: redactor, form: form) { _, line in texts.add(line, "log") }
        }
        let (signing, signer) = try scheme.plugin(key: Self.key, token: Self.token)
        try await send([inspector] + lines + [retry, signing], transport)
        texts.addForms(of: signer)
        let page = try await inspector.page()
        try await transport.finish()
        for url in [file, page] { texts.add(try String(contentsOf: url, encoding: .utf8), url.lastPathComponent) }

        let signatures = scripted.sent.compactMap(scheme.signature)
        #expect(signatures.count == scripted.sent.count && signatures.count > 3)
        for value in [Self.key, Self.token] + signatures { check(value, texts) }
    }
}
