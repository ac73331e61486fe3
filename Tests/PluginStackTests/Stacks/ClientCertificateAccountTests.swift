import Foundation
import Pipeline
import PipelineCaching
import PipelineTesting
import Synchronization
import TestSupport
import Testing

@Suite("G07 Accounts that are client certificates", .watched)
struct ClientCertificateAccountTests {
    /// A transport that presents a certificate, and responds with its name; it redirects `/moved` to another host.
    private final class MutualTransport: Transport {
        let certificate = Mutex("alice")
        let decodesContent = false
        let requests = AsyncStream<Void>.makeStream()
        let delay: Duration
        let clock: ManualClock

        init(delay: Duration = .zero, _ clock: ManualClock) { (self.delay, self.clock) = (delay, clock) }

        func identity(for request: PipelineRequest) -> String? {
            request.host == "plain.example.com" ? nil : "certificate " + certificate.withLock { $0 }
        }

        func send(_ request: PipelineRequest, context: PipelineContext) async throws -> PipelineResponse {
            let name = certificate.withLock { $0 }
            requests.continuation.yield()
            try await context.clock.sleep(for: delay)
            var head = HTTPResponse(status: .ok, headerFields: [.cacheControl: "max-age=60"])
            guard request.host == "plain.example.com" else {
                return PipelineResponse(request: request, head: head, body: .bytes(Data(name.utf8)))
            }
            head = HTTPResponse(status: .temporaryRedirect, headerFields: [.location: "https://api.example.com/mine"])
            return PipelineResponse(request: request, head: head, body: .bytes(Data()))
        }
    }

    private func provider(_ transport: MutualTransport, _ plugins: [any PluginType]) -> Provider<URLTarget> {
        Provider(transport: transport, plugins: plugins, configuration: .init(clock: transport.clock))
    }

    private static let stacks: [[any PluginType]] = [
        [CachePlugin()], [DeduplicationPlugin()], [.standard(.cache())],
        [CachePlugin(rules: .shared)],
    ]

    @Test(
        "A response to one certificate is neither stored nor shared for another, also behind a redirect",
        arguments: 0..<stacks.count,
        ["https://api.example.com/mine", "https://plain.example.com/moved"]
    )
    func replaced(stack: Int, url: String) async throws {
        let clock = ManualClock()
        let transport = MutualTransport(clock)
        let provider = provider(transport, Self.stacks[stack])
        for name in ["alice", "bob", "alice"] {
            transport.certificate.withLock { $0 = name }
            #expect(try await provider.request(URLTarget(url)).mapString() == name)
        }
    }

    /// A transport around another one that forgets to pass its identity on.
    private struct Forgetful: Transport {
        let wrapped: MutualTransport
        let decodesContent = false

        func send(_ request: PipelineRequest, context: PipelineContext) async throws -> PipelineResponse {
            if let identity = wrapped.identity(for: request) { context.addIdentity(identity) }
            return try await wrapped.send(request, context: context)
        }
    }

    @Test("A transport that names the identity only when it sends has no response stored", arguments: 0..<stacks.count)
    func late(stack: Int) async throws {
        let transport = MutualTransport(ManualClock())
        let provider = Provider<URLTarget>(transport: Forgetful(wrapped: transport), plugins: Self.stacks[stack])
        for name in ["alice", "bob", "alice"] {
            transport.certificate.withLock { $0 = name }
            #expect(try await provider.request(URLTarget("https://api.example.com/mine")).mapString() == name)
        }
    }

    @Test("Two calls at the same time with different certificates are both sent")
    func together() async throws {
        let clock = ManualClock()
        let transport = MutualTransport(delay: .seconds(1), clock)
        let provider = provider(transport, [DeduplicationPlugin()])
        let texts = try await clock.run {
            async let first = provider.request(URLTarget("https://api.example.com/mine")).mapString()
            for await _ in transport.requests.stream { break }
            transport.certificate.withLock { $0 = "bob" }
            async let second = provider.request(URLTarget("https://api.example.com/mine")).mapString()
            return try await [first, second]
        }
        #expect(texts == ["alice", "bob"])
    }
}
