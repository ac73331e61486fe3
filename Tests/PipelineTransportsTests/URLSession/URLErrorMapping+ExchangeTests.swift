import Foundation
import Pipeline
import PipelineTesting
import TestSupport
import Testing

@testable import PipelineCore
@testable import PipelineTransports

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

@Suite("URLSessionTransport: Foundation's errors", .tags(.concurrent), .realTime, .watched)
struct URLErrorMappingExchangeTests {
    private let provider = Provider<Probe>(transport: URLSessionTransport(), configuration: .init(redirects: .never))

    /// The error code of a POST that the server responds to with this script; a POST, because it is not retried.
    private func code(_ script: [LoopbackServer.Action]) async throws -> PipelineError.Code? {
        let server = try LoopbackServer { _ in script }
        defer { server.stop() }
        return try await provider.failureCode(Probe(server, method: .post))
    }

    @Test("C01: a refused connection fails with connect.refused")
    func refused() async throws {
        let refusal = try LoopbackPort.refusing()
        #expect(try await provider.failureCode(Probe(refusal.url)) == .connect(.refused))
    }

    @Test("C02: a name that does not resolve fails with dns")
    func dns() async throws {
        let url = try #require(URL(string: "http://\(String(repeating: "a", count: 64)).invalid"))
        let connected = Provider<Probe>(transport: URLSessionTransport(machine: .fake()))
        #expect(try await connected.failureCode(Probe(url)) == .dns)
    }

    @Test(
        "Errors of POSIX and CFNetwork about connections and proxies have codes, and lose their user information",
        arguments: [
            (NSPOSIXErrorDomain, Int(ECONNABORTED), PipelineError.Code.connectionLost),
            (NSPOSIXErrorDomain, Int(EPIPE), .connectionLost),
            ("kCFErrorDomainCFNetwork", 307, .proxy(.authentication)),
            ("kCFErrorDomainCFNetwork", 310, .proxy(.refused)),
            ("kCFErrorDomainCFNetwork", 1, .transport),
        ]
    )
    func otherDomains(_ domain: String, _ code: Int, _ expected: PipelineError.Code) {
        let error = NSError(domain: domain, code: code, userInfo: [NSLocalizedDescriptionKey: "canary"])
        let facts = URLErrorMapping.ExchangeFacts(isSecure: true, hasHead: false, isCoded: false, isSending: false)
        let mapped = URLErrorMapping.exchangeError(for: error, facts) as? PipelineError
        #expect(mapped?.code == expected)
        guard expected != .transport else { return }
        #expect((mapped?.underlyingError as NSError?)?.code == code)
        #expect((mapped?.underlyingError as NSError?)?.userInfo.isEmpty == true)
    }

    @Test("C05, H14: a connection that closes before any byte fails with connectionLost")
    func emptyAnswer() async throws {
        #expect(try await code([.close]) == .connectionLost)
        #expect(try await code([.reset]) == .connectionLost)
    }

    @Test("C07: a reset within the body fails with connectionLost, after the bytes that came before it")
    func reset() async throws {
        let server = try LoopbackServer { _ in
            [.send("HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\none"), .hold("reset"), .reset]
        }
        let response = try await provider.stream(Probe(server))
        var collected = Data()
        let error = await #expect(throws: PipelineError.self) {
            for try await chunk in response.body {
                collected.append(chunk)
                server.release("reset")
            }
        }
        #expect(error?.code == .connectionLost)
        #expect(collected == Data("one".utf8))
    }

    @Test("no error text shows the query, a field or the body, nor does the underlying error")
    func secrets() async throws {
        let canary = "canary-5b1f"
        let scripts: [[LoopbackServer.Action]] = [
            [.close], [.send("garbage\r\n\r\n"), .close],
            [.send("HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\none"), .close],
        ]
        for script in scripts {
            let server = try LoopbackServer { _ in script }
            var target = Probe(server, method: .post, task: .requestData(Data(canary.utf8)))
            target.headers = ["Authorization": "Bearer \(canary)"]
            let provider = Provider<Probe>(
                transport: URLSessionTransport(),
                plugins: [.prepare { request, _ in request.appendQuery("token=\(canary)") }]
            )
            let error = try #require(await provider.failure(target))
            let texts = [
                "\(error)", error.reason, error.localizedDescription, "\(String(describing: error.underlyingError))",
            ]
            for text in texts { #expect(!text.contains(canary), "\(text)") }
        }
    }
}
