import Pipeline
import TestSupport

@testable import PipelineTransports

extension Machine {
    /// A machine with these proxy variables.
    static func fake(_ variables: [String: String] = [:], hasNetwork: Bool = true) -> Machine {
        Machine(proxyVariables: { ProxyVariables(variables) }, hasNetwork: { hasNetwork })
    }
}

extension NetworkTransport {
    /// Makes a transport on a test's own machine.
    func make(on machine: Machine) -> any Transport {
        switch self {
        case .urlSession: URLSessionTransport(machine: machine)
        #if AsyncHTTPClient
        case .asyncHTTPClient: AsyncHTTPClientTransport(machine: machine)
        #endif
        }
    }
}
