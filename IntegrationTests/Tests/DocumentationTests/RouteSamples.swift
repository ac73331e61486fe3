import Hummingbird
import Logging
import NIOCore
import Pipeline
import PipelineTesting
import ServiceLifecycle
import TestSupport
import Testing

// sample: route
func makeRouter(_ pages: ProductPages) -> Router<BasicRequestContext> {
    let router = Router()
    router.add(middleware: TracingMiddleware())
    router.get("ready") { _, _ in isReady(pages.provider) ? HTTPResponse.Status.ok : .serviceUnavailable }
    router.get("products/:id") { request, context in
        let id = try context.parameters.require("id", as: Int.self)
        let bearer = request.headers[.authorization]?.wholeMatch(of: /(?i)bearer +([a-z0-9._~+\/-]+=*)/)
        let incoming = Incoming(
            requestID: request.headers[RequestIDPlugin.standardField] ?? context.id,
            token: bearer.map { String($0.1) }
        )
        do {
            let page = try await Incoming.$current.withValue(incoming) {
                try await pages.page(id, within: .seconds(3))
            }
            guard let page else { throw HTTPError(.notFound) }
            return page
        } catch let error as PipelineError {
            var fields = HTTPFields()
            if let wait = error.retryAfter { fields[.retryAfter] = "\(max(1, Int((wait / .seconds(1)).rounded(.up))))" }
            if status(of: error) == .unauthorized { fields[.wwwAuthenticate] = "Bearer" }
            throw HTTPError(status(of: error), headers: fields)
        }
    }
    return router
}

extension ProductPage: ResponseEncodable {}
// end

@Suite("The route of the guide OnAServer", .realTime, .watched)
struct RouteSamplesTests {
    /// Sends requests to a server with the route, and returns their statuses.
    private func statuses(
        _ paths: [String],
        _ headers: [String: String] = [:],
        _ services: ScriptedTransport
    ) async throws -> [Int] {
        let pages = ProductPages(provider: Provider(transport: services, plugins: [makeQuietPlugins()]))
        // Hummingbird keeps the id of a request in the metadata of its logger.
        var logger = Logger(label: "route")
        logger.logLevel = .critical
        let (ports, port) = AsyncStream.makeStream(of: Int.self)
        let application = Application(
            router: makeRouter(pages),
            configuration: ApplicationConfiguration(address: .hostname("127.0.0.1", port: 0)),
            onServerRunning: { port.yield($0.localAddress?.port ?? 0) },
            logger: logger
        )
        let group = ServiceGroup(configuration: .init(services: [application], logger: logger))
        async let end: Void = group.run()
        let number = await ports.first { _ in true } ?? 0
        let client = Provider<URLTarget>(transport: AsyncHTTPClientTransport())
        var statuses: [Int] = []
        for path in paths {
            let target = URLTarget("http://127.0.0.1:\(number)\(path)", headers: headers)
            statuses.append(try await client.request(target).statusCode)
        }
        await group.triggerGracefulShutdown()
        try await end
        return statuses
    }

    private static func services(prices: ScriptedTransport.Step) -> ScriptedTransport {
        ScriptedTransport { request, _ in
            switch (request.host, request.path) {
            case ("catalog.internal.example", "/products/7"): .status(200, body: #"{"title": "Lamp"}"#)
            case ("catalog.internal.example", _): .status(404)
            case ("prices.internal.example", _): prices
            default: .status(200, body: "[]")
            }
        }
    }

    @Test("A page is sent with 200, and the services get the id, and the prices the token, of the request")
    func page() async throws {
        let services = Self.services(prices: .status(200, body: #"{"cents": 990}"#))
        let headers = ["X-Request-Id": "a1", "Authorization": "bearer x"]
        #expect(try await statuses(["/products/7"], headers, services) == [200])
        #expect(services.sent.count == 3)
        #expect(services.sent.allSatisfy { $0.headers[RequestIDPlugin.standardField] == "a1" })
        #expect(services.sent.compactMap { $0.headers[.authorization] } == ["Bearer x"])
    }

    @Test("A text that is not a token is not passed on, and the prices respond with 401", arguments: ["a,b", "a b"])
    func noToken(text: String) async throws {
        let services = Self.services(prices: .status(401))
        #expect(try await statuses(["/products/7"], ["Authorization": "Bearer \(text)"], services) == [401])
        #expect(services.sent.allSatisfy { $0.headers[.authorization] == nil })
    }

    @Test("A failure has the status of a gateway, a product that does not exist 404, and a word as its id 400")
    func failures() async throws {
        let services = Self.services(prices: .status(400))
        #expect(try await statuses(["/products/7", "/products/8", "/products/x"], services) == [502, 404, 400])
    }

    @Test("A request whose token the prices reject gets their status, and a server that works is ready")
    func rejectedToken() async throws {
        #expect(try await statuses(["/products/7"], Self.services(prices: .status(401))) == [401])
        #expect(try await statuses(["/products/7"], Self.services(prices: .status(403))) == [403])
        #expect(try await statuses(["/ready"], Self.services(prices: .status(401))) == [200])
    }

    private func statuses(_ paths: [String], _ services: ScriptedTransport) async throws -> [Int] {
        try await statuses(paths, [:], services)
    }
}
