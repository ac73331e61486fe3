import Foundation

/// A value encoded as JSON.
struct JSONContent: RequestContent {
    /// The maximum nesting depth; `JSONEncoder` itself is limited only by the stack.
    private static let maximumDepth = 128

    let value: any Encodable & Sendable
    /// The encoder; `nil` uses the context's.
    let encoder: JSONEncoder?

    var kind: RequestTask.Kind { .json }

    func encode(into request: inout PipelineRequest, context: RequestTask.EncodingContext) throws {
        let encoder = encoder ?? context.makeJSONEncoder(value)
        try PipelineError.encoding("a value of type \(type(of: value)) could not be encoded as JSON") {
            // Checks only the depth, for example of a cycle of objects.
            _ = try TreeEncoder.tree(
                of: value,
                .init(maximumDepth: Self.maximumDepth, isDiscarding: true, userInfo: encoder.userInfo)
            )
            request.body = .bytes(try encoder.encode(value))
        }
        request.setContentTypeIfAbsent("application/json")
    }
}
