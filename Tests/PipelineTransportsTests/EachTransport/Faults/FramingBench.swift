import Foundation
import Pipeline
import PipelineTesting
import TestSupport
import Testing

/// The outcome of a call whose response consists of raw bytes.
enum FramingOutcome: Sendable, Equatable {
    case answer(Int, String)
    case failure(PipelineError.Code)
}

/// The raw bytes of a response and their outcome, on all transports or with a different one on some.
struct FramingRow: Sendable, CustomTestStringConvertible {
    let actions: [LoopbackServer.Action]
    /// Whether the server closes the connection after the response without announcing it.
    let closes: Bool
    let expected: FramingOutcome
    let urlSessionOnLinux: FramingOutcome?
    let asyncHTTPClient: FramingOutcome?
    let testDescription: String

    init(
        _ text: String,
        _ expected: FramingOutcome,
        closes: Bool = false,
        urlSessionOnLinux: FramingOutcome? = nil,
        asyncHTTPClient: FramingOutcome? = nil
    ) {
        actions = [.send(text)] + (closes ? [.close] : [])
        self.closes = closes
        self.expected = expected
        self.urlSessionOnLinux = urlSessionOnLinux
        self.asyncHTTPClient = asyncHTTPClient
        testDescription = String(text.replacing(FramingBench.head, with: "…").debugDescription.prefix(80))
    }

    func expected(on transport: NetworkTransport) -> FramingOutcome {
        #if canImport(FoundationNetworking)
        if transport == .urlSession, let urlSessionOnLinux { return urlSessionOnLinux }
        #endif
        return transport == .urlSession ? expected : asyncHTTPClient ?? expected
    }
}

/// A server that responds to `/fault` with a script and to anything else with "next", and a provider.
struct FramingBench {
    /// The beginning of most responses, with a value that no error may show.
    static let head = "HTTP/1.1 200 OK\r\nX-Secret: \(canary)\r\n"
    static let canary = "canary-7d2e"

    let server: LoopbackServer
    let provider: Provider<Probe>

    init(
        _ transport: any Transport,
        _ script: [LoopbackServer.Action],
        limits: ProviderConfiguration.Limits = .init()
    ) throws {
        server = try LoopbackServer { request in
            request.target == "/fault" ? script : [.respond(200, body: "next")]
        }
        provider = Provider(transport: transport, configuration: .init(redirects: .never, limits: limits))
    }

    /// Checks the outcome of a row for a buffered and a streamed call, and what must hold after every fault.
    static func check(
        _ row: FramingRow,
        on transport: NetworkTransport,
        method: HTTPRequest.Method = .post
    ) async throws {
        let bench = try FramingBench(transport.make(), row.actions)
        defer { bench.server.stop() }
        for isStreaming in [false, true] {
            let outcome = try await bench.outcome(method: method, isStreaming: isStreaming)
            #expect(outcome == row.expected(on: transport), "streaming: \(isStreaming)")
            if case .failure(let code) = outcome, transport.closes(after: code) {
                try await bench.server.wait { $0.openConnectionCount == 0 }
            }
            // A complete response leaves its connection to the next call, perhaps before the client notices its end.
            if row.closes { try await bench.checkLaterCall() } else { try await bench.checkNextCall() }
        }
    }

    /// Returns the outcome of a call and checks the text of its error.
    func outcome(method: HTTPRequest.Method = .post, isStreaming: Bool = false) async throws -> FramingOutcome {
        do {
            let target = Probe(server, "/fault", method: method)
            guard isStreaming else {
                let response = try await provider.request(target)
                return .answer(response.statusCode, String(decoding: response.data, as: UTF8.self))
            }
            let response = try await provider.stream(target)
            var data = Data()
            for try await chunk in response.body { data.append(chunk) }
            return .answer(response.statusCode, String(decoding: data, as: UTF8.self))
        } catch let error as PipelineError {
            Self.checkSecrets(of: error)
            return .failure(error.code)
        }
    }

    /// Checks that the transport still works and that the next response contains nothing of the fault.
    func checkNextCall(sourceLocation: SourceLocation = #_sourceLocation) async throws {
        let next = try await provider.request(Probe(server, "/next"))
        #expect(next.data == Data("next".utf8), sourceLocation: sourceLocation)
        #expect(next.headers.map(\.name) == [.contentLength], sourceLocation: sourceLocation)
    }

    /// Like ``checkNextCall(sourceLocation:)``, after a connection was closed while it was idle: a call that gets the
    /// connection before the client notices is lost.
    func checkLaterCall(sourceLocation: SourceLocation = #_sourceLocation) async throws {
        for _ in 0..<3 {
            do {
                return try await checkNextCall(sourceLocation: sourceLocation)
            } catch let error as PipelineError where error.code == .connectionLost {}
        }
        Issue.record("no call gets through", sourceLocation: sourceLocation)
    }

    static func checkSecrets(of error: PipelineError) {
        let texts = [
            "\(error)", error.reason, error.localizedDescription, "\(String(describing: error.underlyingError))",
        ]
        for text in texts { #expect(!text.contains(canary), "\(text)") }
    }
}

extension NetworkTransport {
    /// Whether a response that failed with this code leaves no connection.
    ///
    /// A response over a limit of the pipeline is valid, and to libcurl so is one whose Content-Length only the
    /// transport rejects.
    fileprivate func closes(after code: PipelineError.Code) -> Bool {
        switch code {
        case .limit: false
        case .malformedResponse, .contentCoding: self != .urlSession
        default: true
        }
    }
}
