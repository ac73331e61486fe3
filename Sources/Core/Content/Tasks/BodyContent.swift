import Foundation

/// A body that needs no encoding.
enum BodyContent: RequestContent {
    case data(Data)
    case file(URL)
    case stream(PipelineBody)

    var kind: RequestTask.Kind {
        switch self {
        case .data: .data
        case .file: .file
        case .stream: .stream
        }
    }

    var isUpload: Bool {
        if case .data = self { false } else { true }
    }

    var body: PipelineBody? {
        switch self {
        case .data(let data): .bytes(data)
        case .file(let url): .file(url)
        case .stream(let body): body
        }
    }

    func encode(into request: inout PipelineRequest, context: RequestTask.EncodingContext) throws {
        switch self {
        case .data(let data):
            request.body = .bytes(data)
        case .file(let url):
            try request.requireBodyCarryingMethod()
            if context.files == .immediate { try PipelineBody.requireReadableFile(url) }
            request.body = .file(url)
        case .stream(let body):
            try request.requireBodyCarryingMethod()
            request.body = body
        }
    }
}
