import Foundation
import Pipeline
import PipelineTesting
import TestSupport
import Testing

@testable import PipelinePlugins

@Suite("GzipPlugin: when requests are compressed", .watched)
struct CompressionOffersTests {
    private let json = GzipBytes.json(20_000)
    private static let offer: HTTPFields = [.acceptEncoding: "gzip"]

    /// Sends bodies in turn and returns which were sent compressed.
    private func compressed(
        _ paths: [String],
        _ compression: GzipPlugin.RequestCompression? = .whenOffered,
        template: String? = nil,
        _ step: @escaping @Sendable (Int) -> ScriptedTransport.Step
    ) async throws -> [Bool] {
        let transport = ScriptedTransport { _, index in step(index) }
        let plugin = compression.map { GzipPlugin(requestCompression: $0) } ?? GzipPlugin()
        let provider = Provider<URLTarget>(transport: transport, plugins: [plugin])
        for path in paths {
            var target = URLTarget(path, method: .post, task: .requestData(json))
            target.pathTemplate = template
            _ = try await provider.request(target)
        }
        return transport.sent.map { $0.headers[.contentEncoding] == "gzip" }
    }

    @Test("By default, and in the standard stack, no body is compressed, even if the server offers to decode gzip")
    func never() async throws {
        let paths = ["https://a.test/x", "https://a.test/x"]
        #expect(try await compressed(paths, nil) { _ in .status(200, headers: Self.offer) } == [false, false])
        let transport = ScriptedTransport(always: .status(200, headers: Self.offer))
        let provider = Provider<URLTarget>(transport: transport, plugins: [.standard])
        for path in paths { _ = try await provider.request(URLTarget(path, method: .post, task: .requestData(json))) }
        #expect(transport.sent.allSatisfy { $0.body.bytes == json && !$0.headers.contains(.contentEncoding) })
    }

    @Test("An offer applies to the path and origin of its response, without the query")
    func place() async throws {
        let paths = ["https://a.test/x", "https://a.test/x?y=1", "https://a.test/z", "https://b.test/x"]
        let sent = try await compressed(paths) { .status(200, headers: $0 == 0 ? Self.offer : [:]) }
        #expect(sent == [false, true, false, false])
    }

    @Test("Paths with the same template share an offer")
    func template() async throws {
        let paths = ["https://a.test/users/1", "https://a.test/users/2", "https://b.test/users/1"]
        let sent = try await compressed(paths, template: "/users/{id}") {
            .status(200, headers: $0 == 0 ? Self.offer : [:])
        }
        #expect(sent == [false, true, false])
    }

    @Test(
        "Only gzip with a weight of more than zero is an offer",
        arguments: [
            (["gzip"], true), (["GZIP"], true), (["x-gzip"], true), (["br, gzip;q=0.5"], true), (["br", "gzip"], true),
            (["gzip;q=1.0 , identity"], true), (["gzip ; Q=0.001"], true), (["gzip;q=0"], false),
            (["gzip; q=0.000"], false), (["br"], false), (["identity"], false), (["*"], false), ([""], false),
            (["gzipped"], false), ([";q=1"], false), ([], false),
        ] as [([String], Bool)]
    )
    func values(values: [String], isOffer: Bool) async throws {
        var fields = HTTPFields()
        for value in values { fields.append(HTTPField(name: .acceptEncoding, value: value)) }
        let offered = fields
        let paths = Array(repeating: "https://a.test/x", count: 2)
        #expect(try await compressed(paths) { .status(200, headers: $0 == 0 ? offered : [:]) } == [false, isOffer])
    }

    @Test("A later response without gzip in Accept-Encoding withdraws the offer; one without the field does not")
    func withdrawn() async throws {
        let paths = Array(repeating: "https://a.test/x", count: 4)
        let fields: [HTTPFields] = [Self.offer, [:], [.acceptEncoding: "identity"], [:]]
        #expect(try await compressed(paths) { .status(200, headers: fields[$0]) } == [false, true, true, false])
    }

    @Test("A compressed request that gets a 415 is sent again as it was, and the offer is forgotten")
    func refused() async throws {
        let paths = Array(repeating: "https://a.test/x", count: 3)
        let sent = try await compressed(paths) { index in
            index == 1 ? .status(415) : .status(200, headers: index == 0 ? Self.offer : [:])
        }
        #expect(sent == [false, true, false, false])
    }

    @Test("A 415 is returned if the request was not compressed, or if its plain form gets one, too")
    func unsupported() async throws {
        let path = ["https://a.test/x"]
        for (compression, count) in [(GzipPlugin.RequestCompression.never, 1), (.whenOffered, 1), (.always, 2)] {
            let transport = ScriptedTransport(always: .status(415))
            let provider = Provider<URLTarget>(
                transport: transport,
                plugins: [GzipPlugin(requestCompression: compression)]
            )
            var target = URLTarget(path[0], method: .post, task: .requestData(json))
            target.validationType = .anyStatus
            let response = try await provider.request(target)
            #expect(response.statusCode == 415)
            #expect(response.exchanges.count == count)
            #expect(transport.sent.count == count)
        }
    }

    @Test("Only a body that can be replayed is sent again", arguments: [true, false])
    func stream(isReplayable: Bool) async throws {
        let json = json
        let transport = ScriptedTransport([.status(415), .status(200)])
        let provider = Provider<URLTarget>(transport: transport, plugins: [GzipPlugin(requestCompression: .always)])
        let body = isReplayable ? PipelineBody.stream { Pieces(json, of: 999) } : .stream(Pieces(json, of: 999))
        var target = URLTarget(
            "https://a.test/x",
            method: .post,
            task: .requestStream(body),
            headers: ["Content-Type": "text/plain"]
        )
        target.validationType = .anyStatus
        let response = try await provider.request(target)
        #expect(response.statusCode == (isReplayable ? 200 : 415))
        #expect(transport.sent.count == (isReplayable ? 2 : 1))
        guard isReplayable else { return }
        #expect(try await transport.sent[1].body.collect(upTo: 1 << 20) == json)
        #expect(!transport.sent[1].headers.contains(.contentEncoding))
    }

    @Test("A 415 of the last exchange that the limit allows is returned")
    func exchangeLimit() async throws {
        let transport = ScriptedTransport(always: .status(415))
        let provider = Provider<URLTarget>(
            transport: transport,
            plugins: [GzipPlugin(requestCompression: .always)],
            configuration: .init(limits: .init(exchangeCount: 1))
        )
        var target = URLTarget("https://a.test/x", method: .post, task: .requestData(json))
        target.validationType = .anyStatus
        #expect(try await provider.request(target).statusCode == 415)
        #expect(transport.sent.count == 1)
    }

    @Test("Beyond the limit, the oldest offer is forgotten, and a withdrawn one can be made again")
    func limit() {
        let offers = CompressionOffers(limit: 2)
        let resources = (0..<4).map { "https://a.test /\($0)" }
        func offer(_ number: Int, _ isOffered: Bool = true) {
            offers.note([isOffered ? "gzip" : "br"], of: resources[number])
        }
        func offered() -> [Int] { resources.indices.filter { offers.contains(resources[$0]) } }
        offer(0)
        offer(1)
        offer(0)
        #expect(offered() == [0, 1])
        offer(2)
        #expect(offered() == [1, 2])
        offer(1, false)
        offer(1)
        #expect(offered() == [1, 2])
        offer(3)
        offer(0)
        #expect(offered().count == 2)
        #expect(offered().contains(0))
    }
}
