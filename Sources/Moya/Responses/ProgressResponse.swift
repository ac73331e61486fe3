public import Foundation

/// A step in the progress of a request; the last step has the response.
@available(swift, deprecated: 7, message: "Use ProgressResponse of Pipeline.")
public struct ProgressResponse {
    /// The response, if the request has succeeded.
    public let response: Response?

    /// The bytes that have been transferred, and their total number.
    public let progressObject: Progress?

    /// Creates a step; the last one has a response.
    public init(progress: Progress? = nil, response: Response? = nil) {
        progressObject = progress
        self.response = response
    }

    /// The progress from 0 to 1; 0 while the total is unknown.
    public var progress: Double {
        if completed { return 1 }
        guard let progressObject, progressObject.totalUnitCount > 0 else { return 0 }
        return progressObject.fractionCompleted
    }

    /// Whether the request has succeeded.
    public var completed: Bool { response != nil }
}
