import CMemory
import Foundation
import Pipeline
import Synchronization

/// The memory that a call holds while it waits for its response.
///
/// Many calls wait at once, over a transport that responds to none of them until it is released.
enum Waiting {
    /// The bytes that a call may hold, including its task and what the transport keeps.
    ///
    /// The whole is judged: 9,744 to 10,472 bytes in 13 runs. What a task and a transport hold without a provider is
    /// 2,015 bytes in some runs and 2,459 in others.
    static let allowedByteCount = 10_600

    private struct Case: Sendable {
        let name: String
        var isJudged = false
        /// Returns a closure that performs one call, identified by its number.
        let makeCall: @Sendable (HeldAnswers) -> @Sendable (Int) async throws -> Void
    }

    /// The bytes per call, one value for each round.
    private struct Figures {
        var allocated: [Double] = []
        var resident: [Double] = []
    }

    /// Measures all cases in turn, in rounds, and prints the medians.
    ///
    /// Returns `false` if a judged case holds too much.
    @concurrent
    static func run(callCount: Int, rounds: Int) async throws -> Bool {
        let cases = try await makeCases()
        var figures = Array(repeating: Figures(), count: cases.count)
        for item in cases { _ = try await measure(item, callCount / 10) }
        for _ in 0..<rounds {
            for (index, item) in cases.enumerated() {
                let (allocated, resident) = try await measure(item, callCount)
                figures[index].allocated.append(allocated)
                figures[index].resident.append(resident)
            }
        }
        print(
            "\(callCount) concurrent calls, bytes per call".padding(toLength: 48, withPad: " ", startingAt: 0)
                + "allocated  above transport   resident"
        )
        let bare = median(figures[0].allocated)
        var isWithin = true
        for (item, figures) in zip(cases, figures) {
            let bytes = median(figures.allocated)
            let name = item.name.padding(toLength: 48, withPad: " ", startingAt: 0)
            print(name + String(format: "%9.0f %16.0f %10.0f", bytes, bytes - bare, median(figures.resident)))
            isWithin = isWithin && (!item.isJudged || bytes <= Double(allowedByteCount))
        }
        if !isWithin { print("FAILED: a judged case holds more than \(allowedByteCount) bytes per call") }
        return isWithin
    }

    private static func median(_ values: [Double]) -> Double { values.sorted()[values.count / 2] }

    private static func measure(_ item: Case, _ callCount: Int) async throws -> (allocated: Double, resident: Double) {
        release_free_memory()
        let transport = HeldAnswers()
        let call = item.makeCall(transport)
        let resident = try PeakMemory.current()
        let allocated = allocated_byte_count()
        return try await withThrowingTaskGroup(of: Void.self) { group in
            for number in 0..<callCount {
                group.addTask { try await call(number) }
            }
            while transport.waitingCount < callCount { try await Task.sleep(for: .milliseconds(5)) }
            let byteCount = Double(allocated_byte_count()) - Double(allocated)
            let residentCount = Double(try PeakMemory.current() - resident)
            transport.release()
            try await group.waitForAll()
            return (byteCount / Double(callCount), residentCount / Double(callCount))
        }
    }
}

extension Waiting {
    private static func makeCases() async throws -> [Case] {
        let capture = Capture()
        _ = try await Provider<Item>(transport: capture).request(Item(number: 0))
        let context = try capture.taken()
        let core: [any PluginType] = [
            LoggingPlugin(level: .error) { _, _ in },
            RequestIDPlugin(),
            RetryPlugin(),
            AccessTokenPlugin { _ in "2YotnFZFEjr1zCsicMWpAA" },
            HeadersPlugin(["Accept-Language": "en", "User-Agent": "shop/1.0"]),
            GzipPlugin(),
        ]
        let sharing = DeduplicationPlugin(maximumExchangeCount: 20_000)
        return [
            Case(name: "transport, called directly") { transport in
                { number in
                    let request = try Endpoint(Item(number: number)).makeRequest()
                    _ = try await transport.send(request, context: context)
                }
            },
            makeCase("provider without plugins", isJudged: true, []),
            makeCase("6 plugins", isJudged: true, core),
            makeCase("DeduplicationPlugin alone", [sharing]),
            makeCase("6 plugins and DeduplicationPlugin", core + [sharing]),
            makeCase("TimeoutPlugin(attempt:) alone", [TimeoutPlugin(attempt: .seconds(60))]),
            makeCase("TimeoutPlugin(total:) alone", [TimeoutPlugin(total: .seconds(60))]),
            makeCase("6 plugins and TimeoutPlugin(total:)", [TimeoutPlugin(total: .seconds(60))] + core),
            makeCase(
                "PluginStack.standard with AccessTokenPlugin",
                [.standard { AccessTokenPlugin { _ in "2YotnFZFEjr1zCsicMWpAA" } }]
            ),
        ]
    }

    private static func makeCase(_ name: String, isJudged: Bool = false, _ plugins: [any PluginType]) -> Case {
        Case(name: name, isJudged: isJudged) { transport in
            let provider = Provider<Item>(transport: transport, plugins: plugins)
            return { number in _ = try await provider.request(Item(number: number)) }
        }
    }
}

/// The target of every call.
private struct Item: TargetType, AccessTokenAuthorizable {
    private static let base = URL(string: "https://api.example.com/v1") ?? URL(filePath: "/")

    let number: Int

    var baseURL: URL { Self.base }
    var path: String { "/items/\(number)" }
    var method: HTTPMethod { .get }
    var task: RequestTask { .requestPlain }
    var headers: [String: String]? { ["Accept": "application/json"] }
    var authorizationType: AuthorizationType? { .bearer }
}

/// A transport that keeps a context, with which another transport can be called directly.
private final class Capture: Transport {
    struct NothingTaken: Error {}

    let decodesContent = false
    private let last = Mutex<PipelineContext?>(nil)

    func send(_ request: PipelineRequest, context: PipelineContext) async throws -> PipelineResponse {
        last.withLock { $0 = context }
        return PipelineResponse(request: request, statusCode: 204)
    }

    func taken() throws -> PipelineContext {
        guard let last = last.withLock({ $0 }) else { throw NothingTaken() }
        return last
    }
}

/// A transport that holds all requests until it is released.
private final class HeldAnswers: Transport {
    let decodesContent = false
    private let waiting = Mutex<[CheckedContinuation<Void, Never>]>([])

    var waitingCount: Int { waiting.withLock { $0.count } }

    func send(_ request: PipelineRequest, context: PipelineContext) async throws -> PipelineResponse {
        await withCheckedContinuation { continuation in waiting.withLock { $0.append(continuation) } }
        return PipelineResponse(request: request, statusCode: 204)
    }

    func release() {
        for continuation in waiting.withLock({ $0 }) { continuation.resume() }
    }
}
