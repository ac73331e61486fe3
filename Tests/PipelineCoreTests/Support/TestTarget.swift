import Foundation
import Pipeline
import Synchronization

/// A target whose properties a test can set.
struct TestTarget: TargetType {
    var base = "https://api.example.com/v1"
    var path = "/items"
    var method: HTTPMethod = .get
    var task = RequestTask.requestPlain
    var headers: [String: String]?
    var validationType = ValidationType.anyStatus
    var sampleData = Data()
    var options = RequestOptions()

    var baseURL: URL { URL(string: base) ?? URL(fileURLWithPath: "/") }
}

/// A log of events, in order.
final class Journal: Sendable {
    private let lines = Mutex<[String]>([])

    var entries: [String] { lines.withLock { $0 } }

    func add(_ line: String) {
        lines.withLock { $0.append(line) }
    }
}

/// Records its prepare and process stages.
struct Layer: Stage.Prepare, Stage.Process {
    let name: String
    let journal: Journal
    var error: (any Error)?

    func prepare(_ request: inout PipelineRequest, context: PipelineContext) async throws {
        journal.add("\(name).prepare")
        if let error { throw error }
    }

    func process(_ result: inout Result<PipelineResponse, PipelineError>, context: PipelineContext) async {
        journal.add("\(name).process")
    }
}

/// Records all three wrapping stages, and calls `next` as often as `passes` says.
struct Wrapper: Stage.Prepare, Stage.Intercept, Stage.Process {
    let name: String
    let journal: Journal
    var passes = 1

    func prepare(_ request: inout PipelineRequest, context: PipelineContext) async throws {
        journal.add("\(name).prepare")
    }

    func intercept(
        _ request: PipelineRequest,
        context: PipelineContext,
        next: Stage.Next
    ) async throws -> PipelineResponse {
        journal.add("\(name).in")
        defer { journal.add("\(name).out") }
        var response = PipelineResponse(request: request, statusCode: 299)
        for _ in 0..<passes { response = try await next(request) }
        return response
    }

    func process(_ result: inout Result<PipelineResponse, PipelineError>, context: PipelineContext) async {
        journal.add("\(name).process")
    }
}

/// Records what is sent and received.
struct Observer: Stage.WillSend, Stage.DidReceive {
    let name: String
    let journal: Journal

    func willSend(_ request: PipelineRequest, context: PipelineContext) {
        journal.add("\(name).willSend \(context.attempt).\(context.hop)")
    }

    func didReceive(_ result: Result<PipelineResponse, PipelineError>, context: PipelineContext) {
        switch result {
        case .success(let response): journal.add("\(name).didReceive \(response.statusCode)")
        case .failure(let error): journal.add("\(name).didReceive \(error.code)")
        }
    }
}

/// An error that plugins throw in tests.
struct TestFailure: Error, Equatable {
    var secret = "s3cr3t-in-an-error"
}

/// Returns the `PipelineError` that the closure throws.
func pipelineError(_ work: () async throws -> Void) async -> PipelineError? {
    do {
        try await work()
        return nil
    } catch {
        return error as? PipelineError
    }
}
