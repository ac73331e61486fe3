import Foundation
import Pipeline
import PipelineTesting
import TestSupport
import Testing

@Suite("PipelineError.Code", .watched)
struct PipelineErrorCodeTests {
    typealias Code = PipelineError.Code

    static let codes: [(Code, String)] = [
        (.cancelled, "cancelled"), (.plugin, "plugin"), (.encoding, "encoding"),
        (.unacceptableStatus, "unacceptableStatus"), (.bodyConsumed, "bodyConsumed"), (.file(.busy), "file.busy"),
        (.stubWithoutTransport, "stubWithoutTransport"), (.offline, "offline"), (.dns, "dns"),
        (.tls(.handshake), "tls.handshake"),
        (.connectionLost, "connectionLost"), (.truncated, "truncated"), (.malformedResponse, "malformedResponse"),
        (.contentCoding(.decoder), "contentCoding.decoder"), (.transport, "transport"),
        (.connect(.refused), "connect.refused"), (.connect(.unreachable), "connect.unreachable"),
        (.proxy(.authentication), "proxy.authentication"), (.proxy(.refused), "proxy.refused"),
        (.invalidRequest(.url), "invalidRequest.url"), (.invalidRequest(.headerName), "invalidRequest.headerName"),
        (.timeout(.attempt), "timeout.attempt"), (.timeout(.idle), "timeout.idle"),
        (.timeout(.connect), "timeout.connect"), (.limit(.bodyBytes), "limit.bodyBytes"),
        (.limit(.headerBytes), "limit.headerBytes"), (.redirect(.tooMany), "redirect.tooMany"),
        (.redirect(.loop), "redirect.loop"), (.mapping(.json), "mapping.json"), (.mapping(.string), "mapping.string"),
        (.mapping(.object), "mapping.object"), (.mapping(.keyPath), "mapping.keyPath"),
        (.limit(.init(rawValue: "own")), "limit.own"),
    ]

    @Test("M144 A code has a fixed raw value", arguments: 0..<codes.count)
    func rawValues(_ row: Int) {
        let (code, text) = Self.codes[row]
        #expect(code.rawValue == text)
        #expect("\(code)" == text)
        #expect(Code(rawValue: text) == code)
    }

    @Test("No two codes are the same")
    func distinctCodes() {
        #expect(Set(Self.codes.map(\.0)).count == Self.codes.count)
    }

    @Test("A pattern matches a code or every code of a kind, and no other code")
    func matching() {
        func kind(_ code: Code) -> String {
            switch code {
            case .timeout(.connect): "connecting"
            case .timeout: "timeout"
            case .connect(.refused): "refused"
            case .mapping: "mapping"
            default: "other"
            }
        }
        #expect(kind(.timeout(.connect)) == "connecting")
        #expect(kind(.timeout(.idle)) == "timeout")
        #expect(kind(.connect(.refused)) == "refused")
        #expect(kind(.connect(.unreachable)) == "other")
        #expect(kind(.mapping(.keyPath)) == "mapping")
        #expect(kind(Code(rawValue: "timeouts")) == "other")
        #expect(kind(Code(.timeout, "idle")) == "timeout")
        #expect(Code.timeout(.idle).isKind(of: .timeout))
        #expect(!Code.timeout(.connect).isKind(of: .connect))
    }
}
