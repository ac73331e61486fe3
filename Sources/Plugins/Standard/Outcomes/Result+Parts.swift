import PipelineCore

extension Result<PipelineResponse, PipelineError> {
    /// The response, including that of a failure.
    var response: PipelineResponse? {
        switch self {
        case .success(let response): response
        case .failure(let error): error.response
        }
    }

    var error: PipelineError? {
        if case .failure(let error) = self { error } else { nil }
    }

    var request: PipelineRequest? {
        switch self {
        case .success(let response): response.request
        case .failure(let error): error.request
        }
    }

    var exchanges: [PipelineExchange] {
        switch self {
        case .success(let response): response.exchanges
        case .failure(let error): error.exchanges
        }
    }
}
