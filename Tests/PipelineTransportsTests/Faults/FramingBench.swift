import Foundation
import HTTPTypes
import Pipeline
import PipelineTesting
import PipelineTransports
import TestSupport
import Testing

/// What a call with an answer of raw bytes comes to.
enum FramingOutcome: Sendable, Equatable {
    case answer(Int, String)
    case failure(PipelineError.Code)
}

/// Raw bytes of an answer, and what they come to: on all transports, or otherwise on one of them.
struct FramingRow: Sendable, CustomTestStringConvertible {
    let actions: [LoopbackServer.Action]
    /// Whether the server ends the connection behind the answer, and does not say so.
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

/// A server that answers `/fault` with a script and everything else with "next", and a provider of one transport.
struct FramingBench {
    /// The beginning of most answers, with something that no error may show.
    static let head = "HTTP/1.1 200 OK\r\nX-Secret: \(canary)\r\n"
    static let canary = "canary-7d2e"

    let server: LoopbackServer
    let provider: Provider<Probe>

    init(_ transport: any Transport, _ script: [LoopbackServer.Action], limits: PipelineLimits = .init()) throws {
        server = try LoopbackServer { request in
            request.target == "/fault" ? script : [.respond(200, body: "next")]
        }
        provider = Provider(transport: transport, configuration: .init(redirects: .never, limits: limits))
    }

    /// What a row comes to, for a call that buffers and one that streams, with what has to hold after every fault.
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
                await bench.server.wait { $0.openConnectionCount == 0 }
            }
            // A whole answer leaves its connection to the next call, which may be given it before the client knows of its end.
            if row.closes { try await bench.checkLaterCall() } else { try await bench.checkNextCall() }
        }
    }

    /// The outcome of a call, with a look at the text of its error.
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

    /// The transport goes on, and nothing of the fault is in the next answer.
    func checkNextCall(sourceLocation: SourceLocation = #_sourceLocation) async throws {
        let next = try await provider.request(Probe(server, "/next"))
        #expect(next.data == Data("next".utf8), sourceLocation: sourceLocation)
        #expect(next.headers.map(\.name) == [.contentLength], sourceLocation: sourceLocation)
    }

    /// As ``checkNextCall(sourceLocation:)``, behind a connection that was closed while it was idle: a call that is given it before
    /// the client knows is lost.
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
    /// Whether an answer that failed with this code leaves no connection: an answer over a limit of the pipeline is a valid one,
    /// and so is to libcurl one whose Content-Length only the transport refuses.
    fileprivate func closes(after code: PipelineError.Code) -> Bool {
        switch code {
        case .limit: false
        case .malformedResponse, .contentCoding: self != .urlSession
        default: true
        }
    }
}
