import Foundation
import Pipeline
import PipelineResilience

#if Servers
import AsyncHTTPClient
#endif
#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// A provider with its transport and witness.
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
        #if Servers
        case .asyncHTTPClient:
            var configuration = AsyncHTTPClientTransport.makeDefaultConfiguration()
            configuration.connectionPool.concurrentHTTP1ConnectionsPerHostSoftLimit = options.inFlightCount
            let network = AsyncHTTPClientTransport(configuration: configuration)
            (transport, outermost) = (network, network)
        #endif
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
        #if Servers
        try await (transport as? AsyncHTTPClientTransport)?.shutdown()
        #endif
    }

    /// Returns weak references that show what still exists after the client is dropped.
    func remains() -> Remains { Remains(provider: provider, transport: transport, witness: witness) }

    /// Makes a call and returns its outcome.
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
            // Streams of other libraries may end silently if their reader is cancelled; those of this package throw.
            return Outcome(streamed.response, digest)
        } catch {
            return Outcome(thrown: error)
        }
    }
}

/// Weak references to the objects of a run.
struct Remains {
    private weak var provider: Provider<Call>?
    private weak var transport: (any Transport & AnyObject)?
    private weak var witness: Witness?

    init(provider: Provider<Call>, transport: any Transport & AnyObject, witness: Witness) {
        self.provider = provider
        self.transport = transport
        self.witness = witness
    }

    /// The names of the objects that still exist.
    var names: [String] {
        var names: [String] = []
        if provider != nil { names.append("provider") }
        if transport != nil { names.append("transport") }
        if witness != nil { names.append("plugins") }
        return names
    }
}
