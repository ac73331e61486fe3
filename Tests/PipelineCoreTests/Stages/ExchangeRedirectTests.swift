import Foundation
import Pipeline
import PipelineTesting
import Synchronization
import TestSupport
import Testing

@Suite("Exchange stage: rule 11", .watched)
struct ExchangeRedirectTests {
    private static let mark = HTTPField.Name("X-Mark") ?? .userAgent
    private static let key = HTTPField.Name("X-Key") ?? .userAgent

    private let journal = Journal()

    private func moved(_ location: String) -> ScriptedTransport.Step { .status(307, headers: [.location: location]) }

    private var credential: any PluginType {
        .prepare { request, _ in
            try request.setHeader("t", for: .authorization, isSecret: true)
            try request.setHeader("k", for: Self.key, isSecret: true)
        }
    }

    private func provider(_ transport: any Transport, _ plugins: any PluginType...) -> Provider<TestTarget> {
        Provider(transport: transport, plugins: plugins)
    }

    @Test("Rule 11: the next hop starts from the request that entered this one")
    func entry() async throws {
        let marking = PluginStack.exchange { request, context, send in
            var request = request
            if context.hop == 0 { try request.setHeader("secret", for: Self.mark, isSecret: true) }
            return try await send(request)
        }
        let transport = ScriptedTransport([moved("/b"), .status(200)])
        let response = try await provider(transport, credential, marking).request(TestTarget())
        #expect(transport.sent.map { $0.headers.contains(Self.mark) } == [true, false])
        #expect(transport.sent.allSatisfy { $0.headers.contains(.authorization) })
        // The name stays secret in every description.
        #expect(response.request.isSecret(Self.mark))
    }

    @Test("Rule 11: Location is resolved against the URL as sent, which may be on another origin")
    func rewritten() async throws {
        let rewriting = PluginStack.exchange { request, context, send in
            var request = request
            if context.hop == 0 {
                request.head.authority = "mirror.example"
                request.head.path = "/a/b"
            }
            return try await send(request)
        }
        let transport = ScriptedTransport([moved("c"), .status(200)])
        _ = try await provider(transport, credential, rewriting).request(TestTarget())
        #expect(
            transport.sent.map { "\($0.head.authority ?? "")\($0.path)" } == [
                "mirror.example/a/b", "mirror.example/a/c",
            ]
        )
        #expect(transport.sent.map { $0.headers.contains(.authorization) } == [true, false])
        #expect(transport.sent.map { $0.headers.contains(Self.key) } == [true, false])
    }

    @Test("Rule 11: a redirect back from a rewritten host to the first origin drops secrets, too")
    func back() async throws {
        let rewriting = PluginStack.exchange { request, context, send in
            var request = request
            if context.hop == 0 { request.head.authority = "mirror.example" }
            return try await send(request)
        }
        let transport = ScriptedTransport([moved("https://api.example.com/x"), .status(200)])
        _ = try await provider(transport, credential, rewriting).request(TestTarget())
        #expect(transport.sent.map { $0.headers.contains(.authorization) } == [true, false])
    }

    @Test(
        "Rule 11: a plugin sees the hop's origin and whether the chain has left the first; a new pass resets both"
    )
    func origins() async throws {
        let noting = PluginStack.exchange { [journal] request, context, send in
            journal.add("\(context.hopOrigin?.description ?? "none") \(context.hasLeftOrigin)")
            return try await send(request)
        }
        let again = PluginStack.intercept { request, _, next in
            _ = try await next(request)
            return try await next(request)
        }
        let transport = ScriptedTransport { [self] _, index in
            switch index {
            case 0: moved("/same")
            case 1: moved("https://B.example:443/1")
            case 2: moved("https://api.example.com/2")
            default: .status(200)
            }
        }
        _ = try await provider(transport, again, credential, noting).request(TestTarget())
        #expect(
            journal.entries == [
                "https://api.example.com false", "https://api.example.com false", "https://b.example true",
                "https://api.example.com true", "https://api.example.com false",
            ]
        )
        #expect(transport.sent.map { $0.headers.contains(.authorization) } == [true, true, false, false, true])
    }

    @Test("Rule 11: a redirect that the policy refuses is the response, and its exchange has the reason")
    func refused() async throws {
        let passing = PluginStack.exchange { request, _, send in try await send(request) }
        let transport = ScriptedTransport(always: moved("http://api.example.com/"))
        let response = try await provider(transport, passing).request(TestTarget())
        #expect(response.statusCode == 307)
        #expect(response.exchanges.map(\.refusedRedirect) == [.downgrade])
    }

    @Test("Rule 11: a refused redirect from a plugin is not recorded on an exchange that was followed")
    func refusedOfPlugin() async throws {
        let cache = PluginStack.exchange { request, context, send in
            guard context.hop == 1 else { return try await send(request) }
            let back: HTTPFields = [.location: "http://api.example.com/"]
            return PipelineResponse(request: request, statusCode: 307, headers: back)
        }
        let transport = ScriptedTransport(always: moved("/there"))
        let response = try await provider(transport, cache).request(TestTarget())
        #expect(response.statusCode == 307)
        #expect(response.exchanges.map(\.refusedRedirect) == [nil])
    }

    @Test("Rule 11: a refused redirect from a cached response is not recorded on its original exchange")
    func refusedOfKept() async throws {
        let kept = Mutex<PipelineResponse?>(nil)
        let cache: any PluginType = .exchange { request, _, send in
            if var response = kept.withLock({ $0 }) {
                response.headers[.location] = "http://api.example.com/"
                return response
            }
            let response = try await send(request)
            kept.withLock { $0 = response }
            return response
        }
        let transport = ScriptedTransport(always: moved("/there"))
        let response = try await provider(transport, cache).request(TestTarget())
        #expect(response.statusCode == 307)
        #expect(response.exchanges.map(\.refusedRedirect) == [nil])
    }

    @Test("Rule 11: a redirect loop through exchange plugins ends after the maximum number of hops")
    func loop() async throws {
        let passing = PluginStack.exchange { request, _, send in try await send(request) }
        let transport = ScriptedTransport(always: moved("/v1/items"))
        let error = await #expect(throws: PipelineError.self) {
            try await provider(transport, passing).request(TestTarget())
        }
        #expect(error?.code == .redirect(.loop))
        #expect(transport.sent.count == 21)
    }
}
