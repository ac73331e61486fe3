import Foundation
import HTTPTypes
import Pipeline
import PipelineTesting
import Testing

@Suite("PipelineError.Code")
struct PipelineErrorCodeTests {
    typealias Code = PipelineError.Code

    static let codes: [(Code, String)] = [
        (.cancelled, "cancelled"), (.plugin, "plugin"), (.encoding, "encoding"),
        (.unacceptableStatus, "unacceptableStatus"), (.bodyConsumed, "bodyConsumed"), (.file, "file"),
        (.stubWithoutTransport, "stubWithoutTransport"), (.offline, "offline"), (.dns, "dns"), (.tls, "tls"),
        (.connectionLost, "connectionLost"), (.truncated, "truncated"), (.malformedResponse, "malformedResponse"),
        (.contentCoding, "contentCoding"), (.transport, "transport"), (.connect, "connect"),
        (.connect(.refused), "connect.refused"), (.connect(.unreachable), "connect.unreachable"),
        (.invalidRequest(.url), "invalidRequest.url"), (.invalidRequest(.headerName), "invalidRequest.headerName"),
        (.timeout, "timeout"), (.timeout(.attempt), "timeout.attempt"), (.timeout(.idle), "timeout.idle"),
        (.timeout(.connect), "timeout.connect"), (.limit(.bodyBytes), "limit.bodyBytes"),
        (.limit(.headerBytes), "limit.headerBytes"), (.redirect(.tooMany), "redirect.tooMany"),
        (.redirect(.loop), "redirect.loop"), (.mapping(.json), "mapping.json"), (.mapping(.string), "mapping.string"),
        (.mapping(.object), "mapping.object"), (.mapping(.keyPath), "mapping.keyPath"),
        (.limit(.init(rawValue: "own")), "limit.own"),
    ]

    @Test("M144 A code has one fixed text", arguments: 0..<codes.count)
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

    @Test("A pattern matches its code and its details, and no other code")
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
        #expect(kind(.timeout) == "timeout")
        #expect(kind(.connect(.refused)) == "refused")
        #expect(kind(.connect) == "other")
        #expect(kind(.mapping(.keyPath)) == "mapping")
        #expect(kind(Code(rawValue: "timeouts")) == "other")
        #expect(kind(Code(rawValue: "timeout.connect.slow")) == "connecting")
        #expect(Code.timeout(.idle).isKind(of: .timeout))
        #expect(!Code.timeout.isKind(of: .timeout(.idle)))
    }
}
