public import Foundation

extension URL {
    /// Creates the URL that a target asks for: its base and its path, without the parameters of its task.
    ///
    /// A base that is not absolute stays as it is; the request made of it fails with
    /// ``PipelineError/Code-swift.struct/invalidRequest(_:)``.
    public init(target: some TargetType) {
        self = URL(string: Endpoint(target).url) ?? target.baseURL.appending(path: target.path)
    }
}
