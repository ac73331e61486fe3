import ArgumentParser
import Foundation
import Pipeline
import PipelineRecording
import PipelineResilience

/// What the user learns of an error: a line on standard error, and the exit code.
struct Failure {
    static let other = ExitCode(1)
    static let notFound = ExitCode(2)
    static let unauthorized = ExitCode(3)
    static let rateLimited = ExitCode(4)
    static let unavailable = ExitCode(5)

    let line: String
    let exitCode: ExitCode

    init(_ error: any Error) {
        guard let error = error as? PipelineError else {
            (line, exitCode) = (error.localizedDescription, Self.other)
            return
        }
        let what = error.request?.path ?? "the request"
        switch error.code {
        case .unacceptableStatus where error.statusCode == 401:
            (line, exitCode) = ("the token was rejected (401); check GITHUB_TOKEN", Self.unauthorized)
        case .unacceptableStatus where error.statusCode == 404:
            line = "\(what) was not found (404); check the name, or set GITHUB_TOKEN if it is private"
            exitCode = Self.notFound
        case .unacceptableStatus where error.statusCode == 429, .limit(.rate):
            let time = error.retryAfter.map { "in \(PipelineError.text(of: $0))" } ?? "later"
            line = "the rate limit is used up; try again \(time), or set GITHUB_TOKEN for a higher limit"
            exitCode = Self.rateLimited
        case .unacceptableStatus:
            let message = try? error.response?.map(ErrorMessage.self).message
            line = "\(what) failed with \(error.statusCode ?? 0)\(message.map { ": \($0)" } ?? "")"
            exitCode = (error.statusCode ?? 0) < 500 ? Self.other : Self.unavailable
        case .recording(.noMatch), .recording(.usedUp):
            line = "the recording has no response for \(what); the bundled one has octo-org and octo-org/hello-world"
            exitCode = Self.notFound
        case .file, .recording, .invalidRequest, .mapping:
            (line, exitCode) = (error.reason, Self.other)
        default:
            let server = error.request?.origin.description ?? "the server"
            (line, exitCode) = ("\(error.localizedDescription) (\(error.code), \(server))", Self.unavailable)
        }
    }
}

extension PipelineError.Code {
    /// Whether no connection was made, so that the machine is probably without a network.
    var meansNoNetwork: Bool {
        switch self {
        case .offline, .dns, .connect, .timeout(.connect): true
        default: false
        }
    }
}
