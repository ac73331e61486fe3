import Foundation
import Pipeline

extension Result where Success == PipelineResponse, Failure == any Error {
    var response: PipelineResponse? { try? get() }

    var error: PipelineError? {
        guard case .failure(let error) = self else { return nil }
        return error as? PipelineError
    }

    var isCancelled: Bool {
        guard case .failure(let error) = self else { return false }
        return error is CancellationError
    }

    /// The body as text, or the code of the failure.
    var text: String {
        switch self {
        case .success(let response): String(decoding: response.data, as: UTF8.self)
        case .failure: isCancelled ? "cancelled" : error?.code.rawValue ?? "other"
        }
    }
}
