import Foundation
import Pipeline
import PipelineAPI
import PipelineTesting

/// A client on a scripted transport, in virtual time.
struct APIBench {
    let transport: ScriptedTransport
    let clock = ManualClock()
    var api: APIClient

    init(_ transport: ScriptedTransport, plugins: [any PluginType] = [], server: String = "https://api.example.com/v1")
    {
        self.transport = transport
        let provider = Provider<MultiTarget>(transport: transport, plugins: plugins, configuration: .init(clock: clock))
        api = APIClient(provider, server: ServerURL(base: server))
    }

    init(_ steps: ScriptedTransport.Step..., plugins: [any PluginType] = []) {
        self.init(ScriptedTransport(steps), plugins: plugins)
    }

    /// The URLs without scheme, host and the server's path.
    var paths: [String] {
        transport.sent.map { ($0.head.path ?? "").replacing("/v1/", with: "", maxReplacements: 1) }
    }

    /// The text of the last body that was sent.
    var sentText: String { String(decoding: transport.sent.last?.body.bytes ?? Data(), as: UTF8.self) }
}

/// An operation that is not a request.
struct OwnOperation: APIOperation {
    typealias Report = @Sendable (Double) -> Void

    let work: @Sendable (APIClient, Report?) async throws -> Void

    func run(in client: APIClient, observer: APIObserver) async -> Result<IgnoredBody, PipelineError> {
        observer.onStart?()
        do {
            try await work(client, observer.onProgress)
            return .success(IgnoredBody())
        } catch {
            return .failure(error as? PipelineError ?? PipelineError(.plugin, "the operation threw"))
        }
    }
}

extension ErrorTexts {
    /// The error texts of a client for 404 and 409.
    static var client: ErrorTexts {
        var texts = ErrorTexts()
        texts.set("client 404", for: .notFound)
        texts.set("client 409", for: .conflict)
        return texts
    }
}

extension ScriptedTransport.Step {
    static let ok = status(200, body: "{}")
}
