import Foundation
import Hummingbird
import Logging
import NIOCore
import Synchronization

/// Three servers on loopback addresses, in place of real upstreams.
final class DemoUpstreams: Sendable {
    private let failing = Mutex<Set<String>>([])

    /// Lets an upstream respond with 503 until further notice, or ends this.
    func setFailing(_ name: String, _ isFailing: Bool) {
        failing.withLock { names in
            if isFailing { names.insert(name) } else { names.remove(name) }
        }
    }

    /// Runs the servers for as long as the body runs.
    func run(_ body: @Sendable (Upstreams) async throws -> Void) async throws {
        try await withThrowingTaskGroup(of: Void.self) { group in
            let (started, start) = AsyncStream.makeStream(of: (name: String, url: URL?).self)
            for name in [CatalogTarget.name, PriceTarget.name, ReviewsTarget.name] {
                let server = makeServer(name) { port in
                    start.yield((name, URL(string: "http://127.0.0.1:\(port)")))
                }
                group.addTask {
                    // A server that cannot start must not let the others wait.
                    defer { start.finish() }
                    try await server.run()
                }
            }
            var urls: [String: URL] = [:]
            for await (name, url) in started {
                urls[name] = url
                if urls.count == 3 { break }
            }
            guard let catalog = urls[CatalogTarget.name], let prices = urls[PriceTarget.name],
                let reviews = urls[ReviewsTarget.name]
            else { return try await group.waitForAll() }
            try await body(Upstreams(catalog: catalog, prices: prices, reviews: reviews))
            group.cancelAll()
        }
    }

    private func makeServer(_ name: String, _ onRunning: @escaping @Sendable (Int) -> Void) -> some ApplicationProtocol
    {
        let router = Router()
        router.get("\(name)/:id") { [self] request, context -> Response in
            let id = try context.parameters.require("id", as: Int.self)
            if failing.withLock({ $0.contains(name) }) { throw HTTPError(.serviceUnavailable) }
            // The catalog ends at 100,000.
            guard (1...100_000).contains(id) else { throw HTTPError(.notFound) }
            return try Self.document(name, id).response(from: request, context: context)
        }
        var logger = Logger(label: name)
        logger.logLevel = .critical
        return Application(
            router: router,
            configuration: ApplicationConfiguration(address: .hostname(port: 0)),
            onServerRunning: { channel in onRunning(channel.localAddress?.port ?? 0) },
            logger: logger
        )
    }

    private static func document(_ name: String, _ id: Int) -> any ResponseGenerator {
        switch name {
        case CatalogTarget.name: CatalogTarget.ResultType(title: "Lamp No. \(id)")
        case PriceTarget.name: PriceTarget.ResultType(cents: 1_000 + id, currency: "EUR")
        default: [ReviewsTarget.Review(stars: 1 + id % 5, text: "It is a lamp.")]
        }
    }
}

extension CatalogTarget.ResultType: ResponseEncodable {}
extension PriceTarget.ResultType: ResponseEncodable {}
extension ReviewsTarget.Review: ResponseEncodable {}
