import PipelineCore

/// What a transport needs to know about its machine.
///
/// Tests provide their own.
struct Machine: Sendable {
    /// The proxy variables of the environment.
    var proxyVariables: @Sendable () -> ProxyVariables
    /// Whether a network interface other than loopback is up.
    var hasNetwork: @Sendable () -> Bool

    /// The real machine.
    static let real = Machine(
        proxyVariables: { ProxyVariables.ofProcess },
        hasNetwork: NetworkInterfaces.hasNetwork
    )

    /// Returns a failure to connect as `offline` if the machine has no network, and any other failure unchanged.
    ///
    /// The interfaces are checked only after a failure, and never for a loopback address, which needs no network.
    func explain(_ error: any Error, of request: PipelineRequest) -> any Error {
        guard var failure = error as? PipelineError else { return error }
        let isLoopback = request.loopbackAuthority != nil
        switch failure.code {
        case .offline where isLoopback:
            (failure.code, failure.reason) = (.connect(.unreachable), "the host could not be reached")
        case .dns where !isLoopback && !hasNetwork(), .connect(.unreachable) where !isLoopback && !hasNetwork():
            (failure.code, failure.reason) = (.offline, "no network interface but loopback is up")
        default:
            break
        }
        return failure
    }
}
