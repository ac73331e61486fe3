#if canImport(Network)
import Network
import Pipeline
import TestSupport
import Testing

/// What `Connectivity.system` expects of `NWPathMonitor`.
@Suite("Connectivity with NWPathMonitor", .tags(.concurrent), .realTime, .watched)
struct ConnectivityTests {
    private static let noInterface: [NWInterface.InterfaceType] = [
        .other, .wifi, .cellular, .wiredEthernet, .loopback,
    ]

    @Test("A loop over paths begins with the current path")
    func currentPath() async throws {
        for await path in NWPathMonitor() {
            #expect([.satisfied, .unsatisfied, .requiresConnection].contains(path.status))
            return
        }
        Issue.record("the loop ended without a path")
    }

    @Test("A loop over paths ends when its task is cancelled")
    func cancellation() async throws {
        let task = Task {
            for await path in NWPathMonitor(prohibitedInterfaceTypes: Self.noInterface) where path.status == .satisfied
            {
                return false
            }
            return Task.isCancelled
        }
        task.cancel()
        #expect(await task.value)
    }
}
#endif
