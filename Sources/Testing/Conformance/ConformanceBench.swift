import Foundation
import HTTPTypes
import PipelineCore

/// A target of a check, with its response, both as bytes from a server and as a sample.
struct ConformanceTarget: TargetType {
    /// Set to the server's URL when the target is registered.
    var baseURL = URL(filePath: "/")
    var path: String
    var method: HTTPMethod = .get
    var task = RequestTask.requestPlain
    var options = RequestOptions()
    var status = 200
    var fields: [(name: String, value: String)] = []
    var body = Data()
    /// The script of the server, which replaces status, fields and body.
    var script: [LoopbackServer.Action]?

    var actions: [LoopbackServer.Action] {
        script ?? [.respond(status, headers: fields, body: body)]
    }

    var sample: EndpointSampleResponse {
        var headers = HTTPFields()
        for (name, value) in fields {
            guard let name = HTTPField.Name(name) else { continue }
            headers.append(HTTPField(name: name, value: value))
        }
        return .response(HTTPResponse(status: .init(code: status), headerFields: headers), body)
    }
}

/// A transport under test and a server for it to connect to.
struct ConformanceBench: Sendable {
    let transport: any Transport
    let kind: TransportConformance.Kind
    let clock = ManualClock()
    let server: LoopbackServer
    /// The targets that were registered, by path.
    private let targets: WaitableValue<[String: ConformanceTarget]>

    init(transport: any Transport, kind: TransportConformance.Kind) throws {
        let targets = WaitableValue<[String: ConformanceTarget]>([:])
        self.transport = transport
        self.kind = kind
        self.targets = targets
        server = try LoopbackServer { request in
            targets.read { $0[request.target] }?.actions ?? [.respond(404)]
        }
    }

    /// Registers the response to a target with the server, and returns the target with the server's URL.
    func target(_ target: ConformanceTarget) -> ConformanceTarget {
        var target = target
        target.baseURL = server.url
        targets.update { $0[target.path] = target }
        return target
    }

    /// Returns a provider that follows no redirects and uses the manual clock.
    func makeProvider(
        plugins: [any PluginType] = [],
        limits: ProviderConfiguration.Limits = ProviderConfiguration.Limits()
    ) -> Provider<ConformanceTarget> {
        Provider(
            transport: transport,
            plugins: plugins,
            configuration: .init(redirects: .never, limits: limits, unhandledOptions: .fail, clock: clock)
        ) { target in
            var endpoint = Endpoint(target)
            endpoint.sampleResponse = { target.sample }
            return endpoint
        }
    }

    /// Registers a target and sends it with a new provider.
    func response(to target: ConformanceTarget) async throws -> PipelineResponse {
        try await makeProvider().request(self.target(target))
    }
}
