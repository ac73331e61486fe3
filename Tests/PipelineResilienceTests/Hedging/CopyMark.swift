import Pipeline
import Synchronization

/// Marks each request with the number of equal requests that are in flight, which is the number of the copy.
///
/// The field is one that names no account, so that calls share the responses to marked requests.
final class CopyMark: Stage.Exchange {
    fileprivate static let field = HTTPField.Name("X-Correlation-ID") ?? .eTag

    private let counts = Mutex<[String: Int]>([:])

    func exchange(
        _ request: PipelineRequest,
        context: PipelineContext,
        send: Stage.Send
    ) async throws -> PipelineResponse {
        let path = request.path
        let number = counts.withLock { counts in
            defer { counts[path, default: 0] += 1 }
            return counts[path] ?? 0
        }
        defer { counts.withLock { $0[path, default: 0] -= 1 } }
        var marked = request
        marked.headers[Self.field] = "\(number)"
        return try await send(marked)
    }
}

extension PipelineRequest {
    /// The number of the copy; 0 for the first.
    var copyNumber: Int { headers[CopyMark.field].flatMap { Int($0) } ?? 0 }
}
