import Pipeline
import PipelineTesting

/// A suite that makes many concurrent calls.
protocol TokenCalls {}

extension TokenCalls {
    typealias Call = Task<PipelineResponse, any Error>

    func calls(_ count: Int, of provider: Provider<MultiTarget>) -> [Call] {
        (0..<count).map { number in
            Task { try await provider.request(Ask(path: "/\(number)", authorizationType: .bearer)) }
        }
    }

    func statuses(_ calls: [Call]) async throws -> [Int] {
        var statuses: [Int] = []
        for call in calls { statuses.append(try await call.value.statusCode) }
        return statuses
    }

    /// Returns the error of each call, or `nil` if the call succeeded.
    func errors(_ calls: [Call]) async -> [PipelineError?] {
        var errors: [PipelineError?] = []
        for call in calls {
            do {
                _ = try await call.value
                errors.append(nil)
            } catch let error as PipelineError {
                errors.append(error)
            } catch {
                errors.append(PipelineError(.cancelled, "cancelled"))
            }
        }
        return errors
    }

    func codes(_ calls: [Call]) async -> [PipelineError.Code?] {
        await errors(calls).map { $0?.code }
    }

    /// Returns a plugin that sets the deadline of each call, relative to its start, but does not enforce it.
    func deadline(_ duration: Duration) -> PluginStack {
        .prepare { _, context in context.setDeadline(context.start.advanced(by: duration)) }
    }
}
