import Foundation
import HTTPTypes
import PipelineCore
import Synchronization

extension PluginCheck {
    /// A body that arrives in pieces and records when they are read.
    private final class Source: Sendable {
        private struct State {
            var produced = 0
            var isHandedOn = false
            var wasReadBefore = false
        }

        static let chunks = (0..<256).map { Data(repeating: UInt8(truncatingIfNeeded: $0), count: 4_096 + $0) }

        private let state = Mutex(State())

        var body: PipelineBody { .stream(AsyncStream { self.next() }) }

        /// Whether the whole body was read before it was handed on.
        var wasReadBefore: Bool { state.withLock { $0.wasReadBefore } }

        /// The number of pieces that were requested.
        var producedCount: Int { state.withLock { $0.produced } }

        func handOn() {
            state.withLock { $0.isHandedOn = true }
        }

        private func next() -> Data? {
            state.withLock { state in
                guard state.produced < Self.chunks.count else {
                    if !state.isHandedOn { state.wasReadBefore = true }
                    return nil
                }
                state.produced += 1
                return Self.chunks[state.produced - 1]
            }
        }
    }

    static func stream(_ bench: PluginBench) async -> [String] {
        let source = Source()
        let provider = bench.provider(ScriptedTransport(always: .status(200, body: source.body)))
        let progress = { source.producedCount }
        let outcome = await bench.outcome(progress: progress) {
            let response = try await provider.stream(PluginProbe())
            source.handOn()
            var data = Data()
            for try await chunk in response.body { data.append(chunk) }
            return data
        }
        var found = outcome.violations("reading a streamed body")
        if let data = outcome.value, data != Source.chunks.reduce(Data(), +) {
            found.append("of a streamed body other bytes arrived than were sent, or in another order")
        }
        if source.wasReadBefore {
            found.append("a streamed body was read to its end before the response was handed on")
        }
        return found
    }

    static func download(_ bench: PluginBench) async -> [String] {
        let content = Data((0..<200_000).map { UInt8(truncatingIfNeeded: $0 &* 31) })
        let pieces = [content.prefix(70_000), content.dropFirst(70_000)].stream
        var found: [String] = []
        let data = try? await TemporaryFile.data { file in
            let destination = DownloadDestination.file(file, options: .createIntermediateDirectories)
            let probe = PluginProbe(task: .downloadDestination(destination))
            let outcome = await bench.outcome(of: probe, .status(200, body: .stream(pieces, byteCount: content.count)))
            found = outcome.violations("a download")
        }
        if found.isEmpty, data != content { found = ["a download has other bytes than were sent"] }
        return found
    }

    static func exchange(_ bench: PluginBench) async -> [String] {
        guard PluginStack([bench.plugin]).plugins.contains(where: { $0 is any Stage.Exchange }) else { return [] }
        return await drained(bench) + leaked(bench)
    }

    /// Finds a body that the plugin has read to its end, which only the caller may do.
    private static func drained(_ bench: PluginBench) async -> [String] {
        let source = Source()
        let observer = PluginStack.exchange(name: "observer") { request, _, send in
            let response = try await send(request)
            source.handOn()
            return response
        }
        await bench.outcome(.status(200, body: source.body), with: [observer])
        return source.wasReadBefore ? ["its exchange stage read a body to its end before it returned"] : []
    }

    /// Finds a secret field on a request to another origin.
    private static func leaked(_ bench: PluginBench) async -> [String] {
        let transport = ScriptedTransport { request, index in
            index == 0 || request.head.authority == "conformance.test"
                ? .status(307, headers: [.location: "https://other.test/"]) : .status(200)
        }
        let provider = bench.provider(transport)
        await bench.outcome { try await provider.request(PluginProbe()) }
        let foreign = transport.sent.filter { $0.head.authority == "other.test" }
        let names = Set(foreign.flatMap { request in request.headers.map(\.name).filter(request.isSecret) })
        return names.map(\.rawName).sorted().map { "a redirect to another origin was sent with the secret field \($0)" }
    }

    /// A short body that knows whether it was read to its end or released.
    private final class OpenBody: Sendable {
        /// Is released together with the body.
        private final class Token: Sendable {
            let onRelease: @Sendable () -> Void

            init(onRelease: @escaping @Sendable () -> Void) {
                self.onRelease = onRelease
            }

            deinit { onRelease() }
        }

        private let isDone = Mutex(false)

        var isOpen: Bool { isDone.withLock { !$0 } }

        func makeBody() -> PipelineBody {
            let token = Token { [self] in isDone.withLock { $0 = true } }
            let chunks = Mutex(Data("no".utf8) as Data?)
            return .stream(
                AsyncStream {
                    chunks.withLock { chunk in
                        if chunk == nil { token.onRelease() }
                        defer { chunk = nil }
                        return chunk
                    }
                }
            )
        }
    }

    /// Finds a body that is still open when the request is sent again, so that its connection cannot be used for it.
    static func resending(_ bench: PluginBench) async -> [String] {
        var found: [String] = []
        for status in [401, 429, 503] {
            let first = OpenBody()
            let wasOpen = Mutex(false)
            let transport = ScriptedTransport { _, index in
                guard index == 0 else {
                    if first.isOpen { wasOpen.withLock { $0 = true } }
                    return .status(200)
                }
                let fields: HTTPFields = [.wwwAuthenticate: "Bearer", .retryAfter: "1"]
                return .status(status, headers: fields, body: first.makeBody())
            }
            let provider = bench.provider(transport)
            await bench.outcome { try await provider.stream(PluginProbe()).statusCode }
            if wasOpen.withLock({ $0 }) {
                found.append("after a \(status), a streamed call sent again before it had discarded the body")
            }
        }
        return found
    }
}
