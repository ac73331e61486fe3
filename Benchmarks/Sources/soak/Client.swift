import AsyncHTTPClient
import Foundation
import Pipeline
import PipelinePlugins
import PipelineTransports

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// A provider and what it is made of.
struct Client: Sendable {
    let provider: Provider<Call>
    let witness = Witness()
    private let transport: any Transport & AnyObject

    init(_ options: Options, _ payload: Payload) {
        var plugins = options.hasPlugins ? Stack.standard() : []
        if options.hasChaos { plugins.append(ChaosPlugin()) }
        plugins.append(witness)
        let outermost: any Transport
        switch options.transport {
        case .asyncHTTPClient:
            var configuration = AsyncHTTPClientTransport.makeDefaultConfiguration()
            configuration.connectionPool.concurrentHTTP1ConnectionsPerHostSoftLimit = options.inFlightCount
            let network = AsyncHTTPClientTransport(configuration: configuration)
            (transport, outermost) = (network, network)
        case .urlSession:
            let configuration = URLSessionTransport.makeDefaultConfiguration()
            configuration.httpMaximumConnectionsPerHost = options.inFlightCount
            let network = URLSessionTransport(configuration: configuration)
            (transport, outermost) = (network, network)
        case .stub:
            let stub = Stub(payload: payload)
            transport = stub
            outermost = StubTransport(wrapping: stub) { target in
                (target as? Call)?.plan.behaviour == .plain ? .immediate : .never
            }
        }
        provider = Provider(transport: outermost, plugins: plugins)
    }

    func shutdown() async throws {
        try await (transport as? AsyncHTTPClientTransport)?.shutdown()
    }

    /// What of it is still there once nobody holds it any longer.
    func remains() -> Remains { Remains(provider: provider, transport: transport, witness: witness) }

    /// How a call ends.
    func outcome(of call: Call) async -> Outcome {
        do {
            guard call.plan.behaviour.isStreamed else {
                let response = try await provider.request(call)
                return Outcome(response, Digest(response.data))
            }
            let streamed = try await provider.stream(call)
            let limit = call.plan.behaviour == .dropped ? Payload.largeByteCount / 2 : .max
            var digest = Digest()
            for try await piece in streamed.body {
                digest.add(piece.prefix(limit - digest.byteCount))
                if digest.byteCount == limit { break }
            }
            // A stream of a library may end silently when its reader is cancelled; ours throw.
            return Outcome(streamed.response, digest)
        } catch {
            return Outcome(thrown: error)
        }
    }
}

/// Weak references to what a run has made.
struct Remains {
    private weak var provider: Provider<Call>?
    private weak var transport: (any Transport & AnyObject)?
    private weak var witness: Witness?

    init(provider: Provider<Call>, transport: any Transport & AnyObject, witness: Witness) {
        self.provider = provider
        self.transport = transport
        self.witness = witness
    }

    /// The names of what is still held.
    var names: [String] {
        var names: [String] = []
        if provider != nil { names.append("provider") }
        if transport != nil { names.append("transport") }
        if witness != nil { names.append("plugins") }
        return names
    }
}
