import Foundation
import Pipeline
import PipelineTesting
import TestSupport
import Testing

@Suite("PipelineError: what an app does about it", .watched)
struct PipelineErrorRetryingTests {
    @Test(
        "A network problem is one of the way to the server, and is transient",
        arguments: [
            (.offline, true), (.dns, true), (.connect(.refused), true), (.connect(.unreachable), true),
            (.proxy(.refused), true), (.connectionLost, true), (.truncated, true), (.timeout(.attempt), true),
            (.timeout(.connect), true), (.tls(.certificate), false), (.cancelled, false), (.encoding, false),
            (.mapping(.object), false), (.sessionEnded, false), (.file(.noSpace), false), (.plugin, false),
        ] as [(PipelineError.Code, Bool)]
    )
    func network(code: PipelineError.Code, isProblem: Bool) {
        let error = PipelineError(code, "")
        #expect(error.isNetworkProblem == isProblem)
        #expect(error.isTransient == isProblem)
    }

    @Test("A refusal is transient, but no network problem, even if it is a timeout")
    func refusals() {
        for code in [PipelineError.Code(rawValue: "circuitOpen"), .timeout(.init(rawValue: "queue"))] {
            let error = PipelineError.refused(code, "")
            #expect(!error.isNetworkProblem)
            #expect(error.isTransient)
        }
    }

    @Test("Statuses after which the same call may succeed later are transient", arguments: 400..<600)
    func statuses(status: Int) throws {
        let error = PipelineError(.unacceptableStatus, "", response: try makeResponse(status))
        #expect(error.isTransient == [408, 425, 429, 500, 502, 503, 504].contains(status))
        #expect(!error.isNetworkProblem)
    }

    @Test("An error looks through to its cause, in its properties, in its text for people and in its description")
    func causes() {
        let token = PipelineError.Code(rawValue: "tokenRefresh")
        let offline = PipelineError(token, "no token", underlyingError: PipelineError(.offline, "no network"))
        #expect(offline.isNetworkProblem && offline.isTransient)
        #expect(offline.localizedDescription == PipelineError(.offline, "").localizedDescription)
        #expect(offline.description == "tokenRefresh: no token; because of offline: no network")
        let open = PipelineError(token, "", underlyingError: PipelineError.refused(.init(rawValue: "circuitOpen"), ""))
        #expect(!open.isNetworkProblem && open.isTransient)
        let refused = PipelineError(token, "", underlyingError: PipelineError(.tls(.certificate), ""))
        #expect(!refused.isNetworkProblem && !refused.isTransient)
        #expect(PipelineError(.sessionEnded, "").localizedDescription == "Please sign in again.")
    }

    @Test("Patterns match the code of an optional error")
    func patterns() {
        func name(_ error: PipelineError?) -> String {
            switch error?.code {
            case .timeout: "timeout"
            case .connect(.refused): "refused"
            case .connect: "connect"
            case .offline: "offline"
            case nil: "none"
            default: "other"
            }
        }
        #expect(name(nil) == "none")
        #expect(name(PipelineError(.timeout(.idle), "")) == "timeout")
        #expect(name(PipelineError(.connect(.refused), "")) == "refused")
        #expect(name(PipelineError(.connect(.unreachable), "")) == "connect")
        #expect(name(PipelineError(.offline, "")) == "offline")
        #expect(name(PipelineError(.dns, "")) == "other")
    }
}
