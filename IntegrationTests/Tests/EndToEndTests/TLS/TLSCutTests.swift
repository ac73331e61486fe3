import Foundation
import Pipeline
import TestSupport
import Testing

@Suite("TLS: connections that end without close_notify", .besideTLSServers, .realTime, .watched)
struct TLSCutTests {
    private func failure(_ transport: SecureTransport, _ path: String) async throws -> PipelineError? {
        let provider = Provider<SecureTarget>(transport: try transport.make())
        // POST, because it is not retried.
        let target = SecureTarget(baseURL: TLSServers.url("CUT"), path: path, method: .post)
        let error = await provider.failure(target)
        do {
            for try await _ in try await provider.stream(target).body {}
            #expect(error == nil)
        } catch let streamed as PipelineError {
            #expect(error != nil, "\(String(describing: streamed.underlyingError))")
        }
        return error
    }

    @Test(
        "I8: an incomplete body fails, and a complete one succeeds",
        arguments: SecureTransport.trusting,
        [
            ("/closed", nil), ("/whole", nil), ("/short", .truncated), ("/chunks", .truncated),
            ("/reset", .connectionLost),
            ("/nothing", .connectionLost), ("/reset-at-once", .connectionLost),
        ] as [(String, PipelineError.Code?)]
    )
    func cut(transport: SecureTransport, expected: (path: String, code: PipelineError.Code?)) async throws {
        let error = try await failure(transport, expected.path)
        #expect(error?.code == expected.code, "\(String(describing: error?.underlyingError))")
    }

    @Test("non-TLS bytes in a body fail with truncated or connectionLost", arguments: SecureTransport.trusting)
    func garbage(transport: SecureTransport) async throws {
        let code = try await failure(transport, "/garbage")?.code
        #expect(code == .truncated || code == .connectionLost)
    }

    @Test("I8: a body that ends with the connection fails with truncated if TLS does not confirm that end")
    func truncation() async throws {
        let error = try await failure(.asyncHTTPClient, "/cut")
        #expect(error?.code == .truncated)
    }

    #if canImport(FoundationNetworking)
    @Test(
        "on Linux, libcurl takes such an end for the end of the body, so URLSession does not notice",
        .enabled(if: TLSServers.isTrustedBySystem)
    )
    func urlSessionOnLinux() async throws {
        #expect(try await failure(.urlSession, "/cut") == nil)
    }
    #endif
}
