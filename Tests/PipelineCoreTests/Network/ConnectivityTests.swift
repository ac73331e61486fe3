#if canImport(Network)
import Dispatch
import Network
import TestSupport
import Testing

@testable import PipelineCore

/// What `Connectivity.system` expects of `NWPathMonitor`.
@Suite("Connectivity with NWPathMonitor", .tags(.concurrent), .realTime, .watched)
struct ConnectivityTests {
    private static let noInterface: [NWInterface.InterfaceType] = [
        .other, .wifi, .cellular, .wiredEthernet, .loopback,
    ]

    @Test("A monitor reports the current path before any change")
    func currentPath() async {
        let (paths, continuation) = AsyncStream<NWPath>.makeStream()
        let monitor = NWPathMonitor()
        monitor.pathUpdateHandler = { continuation.yield($0) }
        monitor.start(queue: DispatchQueue(label: "test"))
        defer { monitor.cancel() }
        var iterator = paths.makeAsyncIterator()
        #expect(await iterator.next() != nil)
    }

    @Test("A wait for a path ends when its task is cancelled")
    func cancellation() async {
        let task = Task {
            try await Connectivity.waitForPath(NWPathMonitor(prohibitedInterfaceTypes: Self.noInterface))
        }
        task.cancel()
        await #expect(throws: CancellationError.self) { try await task.value }
    }
}
#endif
