import Foundation
import Pipeline
import PipelineTesting
import Synchronization
import TestSupport
import Testing

@Suite("Exchange plugins over the network", .tags(.concurrent), .realTime, .watched)
struct ExchangeUsersTests {
    /// Every 30th order: each plugin is at each place in some of them.
    private static let orders = ExchangeUsers.orders(of: 6).enumerated().filter { $0.offset % 30 == 0 }.map(\.element)

    private func server() throws -> LoopbackServer {
        let counts = Mutex<[String: Int]>([:])
        return try LoopbackServer { request in
            let path = request.target
            let count = counts.withLock { counts in
                defer { counts[path, default: 0] += 1 }
                return counts[path, default: 0]
            }
            let (status, fields, body) = ExchangeUsers.answer(to: path, after: count)
            return [.respond(status, headers: fields.map { ($0.name.rawName, $0.value) }, body: body)]
        }
    }

    @Test(
        "Six plugins work together in every order, buffered, streamed and downloaded",
        arguments: NetworkTransport.allCases
    )
    func orders(transport: NetworkTransport) async throws {
        for order in Self.orders {
            for kind in 0..<3 {
                let server = try server()
                let users = ExchangeUsers(order: order)
                let provider = Provider<Probe>(transport: transport.make(), plugins: users.plugins)
                let folder = try TemporaryFolder()
                let text: String
                switch kind {
                case 0: text = String(decoding: try await provider.request(Probe(server, "/start")).data, as: UTF8.self)
                case 1:
                    var data = Data()
                    for try await piece in try await provider.stream(Probe(server, "/start")).body { data += piece }
                    text = String(decoding: data, as: UTF8.self)
                default:
                    let task = RequestTask.downloadDestination(.file(folder.file("f")))
                    _ = try await provider.request(Probe(server, "/start", task: task))
                    text = folder.text(of: "f") ?? ""
                }
                #expect(text == "cached", "\(order)")
                #expect(server.requests.map(\.target) == ["/start", "/hop", "/hop"])
                #expect(server.requests.map { $0.values(of: "Cookie").first } == [nil, "s=1", "s=1"])
                #expect(users.limiter.counts == (0, 1))
            }
        }
    }
}
