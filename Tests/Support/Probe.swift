package import Foundation
package import HTTPTypes
package import Pipeline
package import PipelineTesting

/// A minimal target that describes one request.
package struct Probe: TargetType {
    package var baseURL: URL
    package var path = "/"
    package var method: HTTPMethod = .get
    package var task = RequestTask.requestPlain
    package var headers: [String: String]?
    package var validationType = ValidationType.anyStatus
    package var options = RequestOptions()
    package var sampleData = Data("sample".utf8)

    package init(
        _ server: LoopbackServer,
        _ path: String = "/",
        method: HTTPRequest.Method = .get,
        task: RequestTask = .requestPlain
    ) {
        self.init(server.url, path, method: method, task: task)
    }

    package init(_ url: URL, _ path: String = "/", method: HTTPRequest.Method = .get, task: RequestTask = .requestPlain)
    {
        self.baseURL = url
        self.path = path
        self.method = method
        self.task = task
    }

    /// Returns the same target with an attempt timeout.
    package func with(attemptTimeout: Duration) -> Probe {
        var copy = self
        copy.options.attemptTimeout = attemptTimeout
        return copy
    }
}

extension Provider where Target == Probe {
    /// Returns the code of the error that a call fails with, or `nil` if it succeeds.
    package func failureCode(_ target: Probe) async throws -> PipelineError.Code? {
        try await failure(target)?.code
    }

    /// Returns the error that a call fails with, or `nil` if it succeeds.
    package func failure(_ target: Probe) async throws -> PipelineError? {
        do {
            _ = try await request(target)
            return nil
        } catch let error as PipelineError {
            return error
        }
    }
}
