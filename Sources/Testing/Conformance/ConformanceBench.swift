import Foundation
import HTTPTypes
import PipelineCore
import Synchronization

/// One check of a conformance suite.
struct ConformanceCheck: Sendable {
    let name: String
    let needsNetwork: Bool
    let run: @Sendable (ConformanceBench) async throws -> Void

    init(
        _ name: String,
        needsNetwork: Bool = false,
        run: @escaping @Sendable (ConformanceBench) async throws -> Void
    ) {
        self.name = name
        self.needsNetwork = needsNetwork
        self.run = run
    }

    static let all = messages + bodies + failures + framing
}

/// The failure of a check.
struct ConformanceFailure: Error {
    let message: String

    static func require(_ isTrue: Bool, _ message: @autoclosure () -> String) throws {
        guard !isTrue else { return }
        throw ConformanceFailure(message: message())
    }

    static func require<Value: Equatable>(_ value: Value, is expected: Value, _ what: String) throws {
        try require(value == expected, "\(what) is \(excerpt(value)), not \(excerpt(expected))")
    }

    private static func excerpt(_ value: some Any) -> String {
        let text = "\(value)"
        return text.count > 200 ? text.prefix(200) + "…" : text
    }
}

/// A target of a check, with the response that it gets.
struct ConformanceTarget: TargetType {
    var baseURL: URL
    var path: String
    var method: HTTPMethod = .get
    var task = RequestTask.requestPlain
    var options = RequestOptions()
    var answer = ConformanceAnswer()
}

/// A response, both as bytes from a server and as a sample.
struct ConformanceAnswer: Sendable {
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
    /// The responses that targets have registered, by path.
    private final class Answers: Sendable {
        private let answers = Mutex<[String: ConformanceAnswer]>([:])

        subscript(path: String) -> ConformanceAnswer? {
            get { answers.withLock { $0[path] } }
            set { answers.withLock { $0[path] = newValue } }
        }
    }

    let transport: any Transport
    let sendsBytes: Bool
    let leavesCodings: Bool
    let clock = ManualClock()
    let server: LoopbackServer
    private let answers: Answers

    init(transport: any Transport, kind: TransportConformance.Kind) throws {
        let answers = Answers()
        self.transport = transport
        self.sendsBytes = kind.sendsBytes
        self.leavesCodings = kind.leavesCodings
        self.answers = answers
        server = try LoopbackServer { request in
            answers[request.target]?.actions ?? [.respond(404)]
        }
    }

    /// Returns a target and registers its response with the server.
    func target(
        _ path: String,
        method: HTTPRequest.Method = .get,
        task: RequestTask = .requestPlain,
        answer: ConformanceAnswer = ConformanceAnswer()
    ) -> ConformanceTarget {
        answers[path] = answer
        return ConformanceTarget(baseURL: server.url, path: path, method: method, task: task, answer: answer)
    }

    /// Returns a provider that follows no redirects and uses the manual clock.
    func makeProvider(
        plugins: [any PluginType] = [],
        limits: PipelineLimits = PipelineLimits()
    ) -> Provider<ConformanceTarget> {
        Provider(
            transport: transport,
            plugins: plugins,
            configuration: .init(redirects: .never, limits: limits, unhandledOptions: .fail, clock: clock)
        ) { target in
            var endpoint = Endpoint(target)
            endpoint.sampleResponse = { target.answer.sample }
            return endpoint
        }
    }

    /// The result of a call that is cancelled as soon as the server has received its request.
    func cancelledOutcome(of target: ConformanceTarget) async throws -> Result<PipelineResponse, any Error> {
        let provider = makeProvider()
        let call = Task { try await provider.request(target) }
        defer { call.cancel() }
        if sendsBytes { try await server.wait { $0.requestCount > 0 } }
        call.cancel()
        return await call.result
    }

    /// Returns the code of the error with which a call fails.
    func failureCode(_ body: () async throws -> Void) async throws -> PipelineError.Code {
        do {
            try await body()
        } catch let error as PipelineError {
            return error.code
        }
        throw ConformanceFailure(message: "it did not fail")
    }
}
