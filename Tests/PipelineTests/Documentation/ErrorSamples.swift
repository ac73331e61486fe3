import Foundation
import Pipeline
import PipelinePlugins
import PipelineTransports

/// The sample of the guide Errors that handles a failed call.
enum ErrorSamples {
    typealias Library = ReadmeProgram.Library

    static func app() async throws -> String {
        // sample: app
        let provider = Provider<MultiTarget>(transport: URLSessionTransport(), plugins: [LoggingPlugin(level: .info)])
        do {
            let options = RequestOptions { $0.attemptTimeout = .seconds(5) }
            return try await provider.requestDecoded(Library.book(id: 99), options: options).title
        } catch let error as PipelineError {
            switch error.code {
            case .unacceptableStatus: return "no such book: \(error.response?.statusCode ?? 0)"
            case .timeout, .connect, .offline: return "try again later"
            default: throw error
            }
        }
        // end
    }
}
