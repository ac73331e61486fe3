import Foundation
import Pipeline
import PipelineAPI
import PipelineTesting
import Synchronization
import TestSupport
import Testing

@testable import PipelineTransports

#if canImport(Darwin)
import Darwin
#elseif canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#elseif canImport(Android)
import Android
#endif

@Suite("Machines without a network", .tags(.concurrent), .realTime, .watched)
struct OfflineTests {
    /// A name that the resolver rejects locally.
    private static let unknownHost = "http://" + String(repeating: "a", count: 64) + ".invalid"

    private func code(_ url: String, _ transport: any Transport) async throws -> PipelineError.Code? {
        let error = try await Provider<Probe>(transport: transport).failure(Probe(try #require(URL(string: url))))
        #expect(error?.code.provesNothingSent == true)
        return error?.code
    }

    @Test(
        "B3 A name that does not resolve fails with dns, or with offline if only loopback interfaces are up",
        arguments: NetworkTransport.allCases
    )
    func dns(transport: NetworkTransport) async throws {
        #expect(try await code(Self.unknownHost, transport.make(on: .fake(hasNetwork: true))) == .dns)
        #expect(try await code(Self.unknownHost, transport.make(on: .fake(hasNetwork: false))) == .offline)
    }

    #if os(Linux)
    /// Linux has no TCP route to a multicast address, whatever the network, and sends nothing.
    @Test(
        "B3 An unreachable network fails with offline; URLSession on Linux misses it while an interface is up",
        arguments: NetworkTransport.allCases
    )
    func unreachableNetwork(transport: NetworkTransport) async throws {
        let connected = try await code("http://224.0.0.1:9", transport.make(on: .fake(hasNetwork: true)))
        #expect(connected == (transport == .urlSession ? .connect(.unreachable) : .offline))
        #expect(try await code("http://224.0.0.1:9", transport.make(on: .fake(hasNetwork: false))) == .offline)
    }
    #endif

    @Test(
        "B3 A loopback address never fails with offline, and its failures do not check the interfaces",
        arguments: NetworkTransport.allCases
    )
    func loopback(transport: NetworkTransport) async throws {
        let looks = Mutex(0)
        let hasNetwork = { @Sendable in
            looks.withLock { $0 += 1 }
            return false
        }
        let machine = Machine(proxyVariables: { ProxyVariables([:]) }, hasNetwork: hasNetwork)
        let refusal = try LoopbackPort.refusing()
        #expect(try await code(refusal.url.absoluteString, transport.make(on: machine)) == .connect(.refused))
        for url in ["http://localhost/", "https://127.0.0.1/", "http://a.localhost:1/"] {
            let request = try PipelineRequest(url: url)
            for code in [PipelineError.Code.dns, .connect(.unreachable)] {
                #expect((machine.explain(PipelineError(code, "?"), of: request) as? PipelineError)?.code == code)
            }
            let offline = machine.explain(PipelineError(.offline, "?"), of: request) as? PipelineError
            #expect(offline?.code == .connect(.unreachable))
        }
        #expect(looks.withLock { $0 } == 0)
    }

    @Test(
        "B3 Other failures and successful exchanges do not check the interfaces",
        arguments: NetworkTransport.allCases
    )
    func noLook(transport: NetworkTransport) async throws {
        let looks = Mutex(0)
        let hasNetwork = { @Sendable in
            looks.withLock { $0 += 1 }
            return false
        }
        let machine = Machine(proxyVariables: { ProxyVariables([:]) }, hasNetwork: hasNetwork)
        let server = try LoopbackServer { _ in [.respond(200)] }
        #expect(
            try await Provider<Probe>(transport: transport.make(on: machine)).request(Probe(server)).statusCode == 200
        )
        let request = try PipelineRequest(url: "http://api.test/")
        for code in [
            PipelineError.Code.connect(.refused), .timeout(.connect), .tls(.handshake), .connectionLost, .offline,
        ] {
            #expect((machine.explain(PipelineError(code, "?"), of: request) as? PipelineError)?.code == code)
        }
        #expect(machine.explain(CancellationError(), of: request) is CancellationError)
        #expect(looks.withLock { $0 } == 0)
    }

    @Test("B3 onNetworkUnavailable is called on a machine without a network", arguments: NetworkTransport.allCases)
    func onNetworkUnavailable(transport: NetworkTransport) async throws {
        let provider = Provider<MultiTarget>(transport: transport.make(on: .fake(hasNetwork: false)))
        let client = APIClient(provider, server: ServerURL(base: Self.unknownHost))
        let handler = await withCheckedContinuation { continuation in
            client.call(APIRequest<IgnoredBody>("x"))
                .onNetworkUnavailable { continuation.resume(returning: "networkUnavailable") }
                .onSuccess { _ in continuation.resume(returning: "success") }
                .onError { continuation.resume(returning: "error \($0.code)") }
                .execute()
        }
        #expect(handler == "networkUnavailable")
    }
}
