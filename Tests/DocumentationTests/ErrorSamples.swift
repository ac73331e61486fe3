import Foundation
import Pipeline
import PipelineTesting
import TestSupport
import Testing

/// The sample of the guide Errors that handles a failed call.
enum ErrorSamples {
    typealias Library = ReadmeProgram.Library

    static func title(_ provider: Provider<Library>) async throws -> String {
        // sample: app
        do {
            return try await provider.requestDecoded(.book(id: 99)).title
        } catch let error as PipelineError {
            switch error.code {
            case .unacceptableStatus where error.statusCode == 404: return "There is no such book."
            case _ where error.isNetworkProblem: return "Check your connection."
            case _ where error.isTransient: return "Try again later."
            default: return error.localizedDescription
            }
        }
        // end
    }
}

@Suite("The sample of the guide Errors that handles a failed call", .watched)
struct ErrorSamplesTests {
    @Test(
        "Each failure has its own text",
        arguments: [
            (ScriptedTransport.Step.status(404), "There is no such book."),
            (.failure(.dns), "Check your connection."), (.failure(.timeout(.idle)), "Check your connection."),
            (.status(503), "Try again later."),
            (.status(410), "This item no longer exists."),
            (.status(200, body: #"{"title": "Solaris", "author": "Lem"}"#), "Solaris"),
        ] as [(ScriptedTransport.Step, String)]
    )
    func texts(_ step: ScriptedTransport.Step, _ shown: String) async throws {
        let provider = Provider<ReadmeProgram.Library>(transport: ScriptedTransport([step]))
        #expect(try await ErrorSamples.title(provider) == shown)
    }
}
