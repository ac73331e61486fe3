public import Foundation

extension URL {
    /// Creates the URL that a target requests: its base and its path, without the parameters of its task.
    ///
    /// A base that is not absolute is used unchanged; a request to it fails with
    /// ``PipelineError/Code-swift.struct/invalidRequest(_:)``.
    public init(target: some TargetType) {
        self = URL(string: Endpoint(target).url) ?? target.baseURL.appending(path: target.path)
    }
}
