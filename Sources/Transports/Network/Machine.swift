import Pipeline

/// What a transport asks of the machine that it runs on; tests make one of their own.
struct Machine: Sendable {
    /// The proxy variables of the environment.
    var proxyVariables: @Sendable () -> ProxyVariables
    /// Whether a network interface other than loopback is up.
    var hasNetwork: @Sendable () -> Bool

    /// The machine as it is.
    static let real = Machine(
        proxyVariables: { ProxyVariables.ofProcess },
        hasNetwork: NetworkInterfaces.hasNetwork
    )

    /// A failure to connect as `offline` if the machine has no network, any other failure as it is.
    ///
    /// The interfaces are looked at after a failure only, and never for a loopback address, which needs no network.
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
