import Foundation
import Pipeline
import PipelineTesting
import TestSupport
import Testing

@testable import PipelineAPI

@Suite("Servers and environments", .tags(.concurrent), .watched)
struct APIEnvironmentsTests {
    private let environments: APIEnvironments

    init() throws {
        environments = APIEnvironments(
            dev: ServerURL(base: "https://dev.example.com", path: "v1"),
            testFlight: ServerURL(base: "https://test.example.com/"),
            appStore: ServerURL(base: "https://example.com"),
            others: ["load": ServerURL(base: "https://load.example.com")]
        )
        try environments.use(.dev)
    }

    private func bench(_ transport: ScriptedTransport = ScriptedTransport(always: .ok)) -> APIBench {
        var bench = APIBench(transport)
        bench.api.server = nil
        bench.api.environments = environments
        return bench
    }

    @Test(
        "The description and the dump of a server show only its scheme, host, port and path",
        arguments: [
            ("https://api.example.com", "v1", "https://api.example.com/v1"),
            ("http://127.0.0.1:8080", "", "http://127.0.0.1:8080"),
            ("https://[::1]:8080/a", "b", "https://[::1]:8080/a/b"),
            (
                "https://hunter2:hunter2@api.example.com:444/a?key=hunter2#hunter2", "v1",
                "https://api.example.com:444/a/v1"
            ),
            ("https://hunter2@api.example.com?hunter2", "", "https://api.example.com"),
            ("https://ann:hun@hunter2@api.example.com/key", "", "https://api.example.com/key"),
            ("https://hunter2:hunter2/3@api.example.com", "", nil),
            ("https://ann:hun@hunter2@api example.com/key?hunter2", "", nil),
            ("hunter2:hunter2@localhost:8080", "", nil),
            ("api.example.com/hunter2", "", nil), ("hunter2", "hunter2", nil), ("", "", nil),
            ("https:///hunter2", "", nil), ("https://ann%40hunter2/a", "", nil),
        ]
    )
    func description(base: String, path: String, shown: String?) throws {
        let server = ServerURL(base: base, path: path)
        #expect("\(server)" == shown ?? "a server that is not a URL")
        var text = "\(String(reflecting: server))\(try APIEnvironments(["a": server], current: "a"))"
        dump(server, to: &text)
        var api = APIBench().api
        api.server = server
        dump(api, to: &text)
        #expect(!text.contains("hunter2"))
    }

    @Test("C4 C50 C52 C55 A call goes to the server of the environment that is current when it begins")
    func switching() async throws {
        let bench = bench()
        let request = APIRequest<IgnoredBody>("x")
        for name in [APIEnvironments.Name.dev, .testFlight, .appStore, "load"] {
            try environments.use(name)
            #expect(environments.current == name)
            _ = try await bench.api.send(request)
        }
        #expect(
            bench.transport.sent.compactMap(\.url?.absoluteString) == [
                "https://dev.example.com/v1/x", "https://test.example.com/x", "https://example.com/x",
                "https://load.example.com/x",
            ]
        )
    }

    @Test("A call keeps the environment in which it began, even for retries")
    func kept() async throws {
        let environments = environments
        let again = InterceptOnce { try? environments.use(.appStore) }
        let transport = ScriptedTransport(always: .ok)
        var bench = APIBench(transport, plugins: [again])
        bench.api.server = nil
        bench.api.environments = environments
        _ = try await bench.api.send(APIRequest<IgnoredBody>("x"))
        #expect(environments.current == .appStore)
        #expect(transport.sent.map(\.host) == ["dev.example.com", "dev.example.com"])
    }

    @Test("A call with callbacks keeps the environment in which it was executed")
    func keptByCall() async throws {
        let bench = bench()
        let call = bench.api.call(APIRequest<IgnoredBody>("x")).onRequestStarted { [environments] in
            try? environments.use("load")
        }
        try environments.use(.testFlight)
        let handle = call.execute()
        try environments.use(.appStore)
        await handle.value
        #expect(bench.transport.sent.map(\.host) == ["test.example.com"])
    }

    @Test("A chain and a batch that are run directly keep the environment in which they began")
    func keptByHand() async throws {
        let environments = environments
        let transport = ScriptedTransport(
            always: .answer { request, _ in
                try environments.use(environments.current == .dev ? .appStore : .dev)
                return PipelineResponse(request: request, statusCode: 200)
            }
        )
        let bench = bench(transport)
        let (first, second) = (APIRequest<IgnoredBody>("1"), APIRequest<IgnoredBody>("2"))
        _ = try await first.and(second).run(in: bench.api, observer: APIObserver()).get()
        _ = try await [first, second].flatten().run(in: bench.api, observer: APIObserver()).get()
        #expect(Set(transport.sent.map(\.host)) == ["dev.example.com"] && transport.sent.count == 4)
    }

    @Test("A custom operation keeps the environment in which it began")
    func keptByOwnOperation() async throws {
        let bench = bench()
        let own = OwnOperation { [environments] client, _ in
            for _ in 0..<2 {
                _ = try await APIRequest<IgnoredBody>("x").run(in: client, observer: APIObserver()).get()
                try? environments.use(.appStore)
            }
        }
        _ = try await bench.api.send(own)
        #expect(bench.transport.sent.map(\.host) == ["dev.example.com", "dev.example.com"])
    }

    private struct InterceptOnce: Stage.Intercept {
        let between: @Sendable () -> Void

        func intercept(
            _ request: PipelineRequest,
            context: PipelineContext,
            next: Stage.Next
        ) async throws -> PipelineResponse {
            _ = try await next(request)
            between()
            return try await next(request)
        }
    }

    @Test("C13 A request's server wins over the client's, and the client's over the environment's")
    func priority() async throws {
        var bench = bench()
        let request = APIRequest<IgnoredBody>("x")
        bench.api.server = ServerURL(base: "https://client.example.com")
        _ = try await bench.api.send(request)
        _ = try await bench.api.send(request.serverURL(ServerURL(base: "https://own.example.com")))
        _ = try await bench.api.send(
            APIRequest<IgnoredBody>("x").serverURL(ServerURL(base: "https://first.example.com"))
        )
        #expect(bench.transport.sent.map(\.host) == ["client.example.com", "own.example.com", "first.example.com"])
        _ = try await bench.api.send(request.and(request))
        await bench.api.call(request).finished()
        #expect(bench.transport.sent.suffix(3).allSatisfy { $0.host == "client.example.com" })
    }

    @Test("An unknown environment is an error, the current one is kept, and the next call works")
    func unknown() async throws {
        let bench = bench()
        let error = await pipelineError { try environments.use("stagin") }
        #expect(error?.code == .unknownEnvironment)
        #expect(error?.reason.contains("appStore, dev, load, testFlight") == true)
        #expect(environments.names == [.appStore, .dev, "load", .testFlight])
        let saved = await pipelineError {
            _ = try APIEnvironments(["a": ServerURL(base: "https://a.example")], current: "b")
        }
        #expect(saved?.code == .unknownEnvironment)
        #expect(environments.current == .dev)
        _ = try await bench.api.send(APIRequest<IgnoredBody>("x"))
        #expect(bench.transport.sent.map(\.host) == ["dev.example.com"])
    }

    @Test("C54 The variable env selects the environment; without it nothing changes; an unknown name is an error")
    func variable() async throws {
        try environments.useVariable(of: ["env": "testFlight"])
        #expect(environments.current == .testFlight)
        try environments.useVariable(of: [:])
        try environments.useVariable(of: ["env": ""])
        #expect(environments.current == .testFlight)
        #expect(await pipelineError { try environments.useVariable(of: ["env": "prod"]) }?.code == .unknownEnvironment)
        #expect(environments.current == .testFlight)
        try environments.useVariable("STAGE", of: ["STAGE": "load"])
        #expect(environments.current == "load")
    }

    @Test("C53 A debug build is dev, a build with a sandbox receipt is testFlight, and any other is appStore")
    func detected() {
        let sandbox = URL(filePath: "/app/StoreKit/sandboxReceipt")
        #expect(APIEnvironments.detect(isDebug: true, receipt: sandbox) == .dev)
        #expect(APIEnvironments.detect(isDebug: false, receipt: sandbox) == .testFlight)
        #expect(APIEnvironments.detect(isDebug: false, receipt: URL(filePath: "/app/StoreKit/receipt")) == .appStore)
        #expect(APIEnvironments.detect(isDebug: false, receipt: nil) == .appStore)
        let server = ServerURL(base: "https://example.com")
        let other = ServerURL(base: "https://other.example.com")
        let all = APIEnvironments(
            dev: server,
            testFlight: server,
            appStore: server,
            others: [APIEnvironments.detected: other]
        )
        #expect(all.current == APIEnvironments.detected && all.server == server)
        #if DEBUG
        #expect(APIEnvironments.detected == .dev)
        #endif
    }

    @Test(
        "C56 Without a valid server a call fails and sends nothing",
        arguments: [
            nil, ServerURL(base: ""), ServerURL(base: "example.com"), ServerURL(base: "ftp://example.com"),
        ]
    )
    func noServer(server: ServerURL?) async throws {
        var bench = APIBench(ScriptedTransport(always: .ok))
        bench.api.server = server
        bench.api.options.errorTexts.set("no server", for: .invalidRequest)
        let error = await pipelineError { _ = try await bench.api.send(APIRequest<IgnoredBody>("x")) }
        #expect(error?.code.isKind(of: .invalidRequest) == true && error?.customText == "no server")
        let unresolved = await pipelineError { _ = try bench.api.resolved(APIRequest<IgnoredBody>("x")) }
        #expect(unresolved?.code == (server?.base == "ftp://example.com" ? nil : .invalidRequest(.url)))
        #expect(bench.transport.sent.isEmpty)
    }

    @Test("Switching environments while calls begin is safe")
    func races() async throws {
        let bench = bench()
        await withTaskGroup(of: Void.self) { group in
            for index in 0..<200 {
                group.addTask {
                    try? environments.use(index.isMultiple(of: 2) ? .dev : .appStore)
                    _ = try? await bench.api.send(APIRequest<IgnoredBody>("x"))
                }
            }
        }
        #expect(bench.transport.sent.count == 200)
        #expect(
            Set(bench.transport.sent.map { ($0.host ?? "") + $0.path }) == ["dev.example.com/v1/x", "example.com/x"]
        )
    }
}
