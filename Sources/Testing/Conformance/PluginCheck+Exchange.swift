import Foundation
import HTTPTypes
import PipelineCore
import Synchronization

extension PluginCheck {
    static let exchange: @Sendable (PluginBench) async -> [String] = { bench in
        guard PluginStack([bench.plugin]).plugins.contains(where: { $0 is any Stage.Exchange }) else { return [] }
        return await drained(bench) + leaked(bench)
    }

    /// Finds a body that the plugin has read to its end, which only the caller may do.
    private static func drained(_ bench: PluginBench) async -> [String] {
        let produced = Mutex(0)
        let wasRead = Mutex(false)
        let body = PipelineBody.stream(
            AsyncStream<Data> {
                produced.withLock { produced in
                    produced += 1
                    return produced > 256 ? nil : Data(repeating: 7, count: 4_096)
                }
            }
        )
        let observer = PluginStack.exchange(name: "observer") { request, _, send in
            let response = try await send(request)
            wasRead.withLock { $0 = produced.withLock { $0 } > 256 }
            return response
        }
        _ = await bench.outcome(of: PluginProbe(), .status(200, body: body), with: [observer])
        return wasRead.withLock { $0 } ? ["its exchange stage read a body to its end before it returned"] : []
    }

    /// Finds a secret field on a request to another origin.
    private static func leaked(_ bench: PluginBench) async -> [String] {
        let transport = ScriptedTransport { request, index in
            index == 0 || request.head.authority == "conformance.test"
                ? .status(307, headers: [.location: "https://other.test/"]) : .status(200)
        }
        let provider = bench.provider(transport)
        _ = await ObservedCall { try await provider.request(PluginProbe()) }
            .end(moving: bench.clock, patience: bench.patience)
        let foreign = transport.sent.filter { $0.head.authority == "other.test" }
        let names = Set(foreign.flatMap { request in request.headers.map(\.name).filter(request.isSecret) })
        return names.map(\.rawName).sorted().map { "a redirect to another origin was sent with the secret field \($0)" }
    }
}
