import Foundation
import Pipeline
import PipelineMoya
import PipelineTesting
import Synchronization
import TestSupport
import Testing

@Suite("Timeouts of MoyaProvider", .tags(.concurrent), .realTime, .watched) struct MoyaTimeoutTests {
    private struct TimeoutPlugin: PipelineMoya.PluginType {
        let interval: TimeInterval

        func prepare(_ request: URLRequest, target: any PipelineMoya.TargetType) -> URLRequest {
            var request = request
            request.timeoutInterval = interval
            return request
        }
    }

    private func provider(
        _ interval: TimeInterval,
        _ transport: any Transport,
        _ plugins: [any PipelineMoya.PluginType] = []
    ) -> MoyaProvider<PlainTarget> {
        MoyaProvider(
            requestClosure: { endpoint, done in
                done(
                    Result { try endpoint.urlRequest() }.mapError { .underlying($0, nil) }.map {
                        var request = $0
                        request.timeoutInterval = interval
                        return request
                    }
                )
            },
            transport: transport,
            plugins: plugins
        )
    }

    /// The idle timeouts of a call, and those of its attempts.
    private func timeouts(_ interval: TimeInterval, _ plugins: [any PipelineMoya.PluginType] = []) async -> [Duration?]
    {
        let found = Mutex<[Duration?]>([])
        let transport = ScriptedTransport(
            always: .answer { request, context in
                found.withLock { $0.append(context.options.idleTimeout ?? request.idleTimeout) }
                found.withLock { $0.append(context.options.attemptTimeout ?? request.attemptTimeout) }
                return .init(request: request, statusCode: 200)
            }
        )
        _ = await provider(interval, transport, plugins).result(of: PlainTarget())
        return found.withLock { $0 }
    }

    @Test("A timeoutInterval other than 60 s limits pauses, not the whole transfer, and the last plugin decides")
    func idleTimeout() async {
        #expect(await timeouts(30) == [.seconds(30), nil])
        for endless in [60, .infinity, .greatestFiniteMagnitude, 0] {
            #expect(await timeouts(endless) == [nil, nil])
            #expect(await timeouts(30, [TimeoutPlugin(interval: endless)]) == [nil, nil])
        }
        #expect(await timeouts(30, [LoggedPlugin("A", CallLog())]) == [.seconds(30), nil])
        #expect(await timeouts(30, [TimeoutPlugin(interval: 7), TimeoutPlugin(interval: 5)]) == [.seconds(5), nil])
        #expect(await timeouts(30, [TimeoutPlugin(interval: 30)]) == [.seconds(30), nil])
    }

    @Test("A response that does not begin within the timeoutInterval fails as timed out", arguments: [true, false])
    func silence(hasPlugin: Bool) async {
        let provider = provider(
            hasPlugin ? 60 : 0.02,
            ScriptedTransport(always: .hang),
            hasPlugin ? [TimeoutPlugin(interval: 0.02)] : []
        )
        #expect(await provider.result(of: PlainTarget()).text == "failed with URLError -1001")
    }

    @Test("The upload of a form may take longer than the timeoutInterval")
    func upload() async {
        let (gate, open) = AsyncStream<Never>.makeStream()
        let transport = ScriptedTransport(
            always: .answer { request, _ in
                for await _ in gate {}
                try _Concurrency.Task.checkCancellation()
                return .init(request: request, statusCode: 200)
            }
        )
        let provider = provider(0.02, transport)
        let form = PlainTarget(method: .post, task: .uploadMultipart([.init(provider: .data(Data()), name: "a")]))
        async let upload = provider.result(of: form)
        #expect(await provider.result(of: PlainTarget()).text == "failed with URLError -1001")
        open.finish()
        #expect(await upload.text == "200")
    }
}
