/// A target that can explain why no request can be made of its URL.
package protocol URLFailureExplaining {
    /// What is wrong with the URL, in place of the general failure; `nil` if the target knows no more.
    var urlFailure: PipelineError? { get }
}
