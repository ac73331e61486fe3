import Foundation
import Pipeline
import ServiceLifecycle

/// A service that sends requests to the gateway, prints the results, and ends.
///
/// The reviews fail during the second third of the requests.
struct LoadTest: Service {
    private struct PageTarget: DecodableTargetType {
        typealias ResultType = ProductPage
        let baseURL: URL
        let id: Int
        var path: String { "products/\(id)" }
        var method: HTTPMethod { .get }
        var task: RequestTask { .requestPlain }
        var validationType: ValidationType { .successCodes }
    }

    struct Results {
        var durations: [Duration] = []
        var degradedCount = 0
        var failureCount = 0

        func summary(_ elapsed: Duration) -> String {
            let sorted = durations.sorted()
            func percentile(_ share: Double) -> String {
                let value = sorted.isEmpty ? .zero : sorted[Int(Double(sorted.count - 1) * share)]
                return String(format: "%.1f ms", value / .milliseconds(1))
            }
            return """
                \(sorted.count) requests, \(Int(Double(sorted.count) / (elapsed / .seconds(1)))) per second, \
                p50 \(percentile(0.5)), p99 \(percentile(0.99)), \(failureCount) failed, \(degradedCount) without reviews
                """
        }
    }

    private static let concurrentCount = 32

    let count: Int
    /// The port of the gateway, when it is running.
    let ports: AsyncStream<Int>
    let demo: DemoUpstreams

    func run() async throws {
        guard let port = await ports.first(where: { _ in true }) else { return }
        for (number, phase) in ["all upstreams up", "reviews down", "reviews up again"].enumerated() {
            demo.setFailing(ReviewsTarget.name, number == 1)
            let start = ContinuousClock.now
            let ids = number * count / 3 + 1..<(number + 1) * count / 3 + 1
            let results = try await Self.load(Endpoint.url("http://127.0.0.1:\(port)"), ids: ids)
            print("\(phase): \(results.summary(start.duration(to: .now)))")
        }
    }

    /// Requests a page for each id, some of them at the same time.
    static func load(_ origin: URL, ids: Range<Int>) async throws -> Results {
        let transport = AsyncHTTPClientTransport()
        let provider = Provider<PageTarget>(transport: transport)
        let results = await withTaskGroup(of: (Duration, ProductPage?).self) { group in
            var results = Results()
            for (index, id) in ids.enumerated() {
                if index >= concurrentCount, let result = await group.next() { results.add(result) }
                group.addTask {
                    let start = ContinuousClock.now
                    let page = try? await provider.requestDecoded(PageTarget(baseURL: origin, id: id))
                    return (start.duration(to: .now), page)
                }
            }
            for await result in group { results.add(result) }
            return results
        }
        try await transport.shutdown()
        return results
    }
}

extension LoadTest.Results {
    fileprivate mutating func add(_ result: (duration: Duration, page: ProductPage?)) {
        durations.append(result.duration)
        switch result.page {
        case .none: failureCount += 1
        case .some(let page): if page.reviews == nil { degradedCount += 1 }
        }
    }
}
