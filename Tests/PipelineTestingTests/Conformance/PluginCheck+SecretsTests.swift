import Foundation
import Pipeline
import PipelineTesting
import TestSupport
import Testing

@Suite("PluginConformance: secrets", .tags(.concurrent), .watched)
struct PluginCheckSecretsTests {
    private static func part(_ place: String, of error: PipelineError) -> String {
        switch place {
        case "the query": error.request?.query ?? ""
        case "a header field of the request": "\(error.request?.headers ?? [:])"
        case "Authorization": error.request?.headers[.authorization] ?? ""
        case "the body of the request": String(decoding: error.request?.body.bytes ?? Data(), as: UTF8.self)
        case "a header field of the response": "\(error.response?.headers ?? [:])"
        default: String(decoding: error.response?.data ?? Data(), as: UTF8.self)
        }
    }

    @Test(
        "secrets: a plugin that puts part of a message into an error fails",
        arguments: [
            "the query", "a header field of the request", "Authorization", "the body of the request",
            "a header field of the response", "the body of the response",
        ]
    )
    func leaks(place: String) async {
        let violations = await PluginConformance {
            PluginStack.process { result, _ in
                if case .success(let response) = result, response.statusCode == 500 {
                    result = .failure(PipelineError(.offline, "no", response: response))
                }
                guard case .failure(var error) = result, error.code != .cancelled else { return }
                error.reason = Self.part(place, of: error)
                result = .failure(error)
            }
        }.run()
        #expect(violations.contains { $0.description == "secrets: an error shows \(place)" })
        #expect(violations.allSatisfy { $0.check == "secrets" })
    }
}
