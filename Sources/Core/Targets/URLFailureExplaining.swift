/// A target that can explain why its URL cannot be requested.
package protocol URLFailureExplaining {
    /// The error that replaces the general one; `nil` if the target has no further information.
    var urlFailure: PipelineError? { get }
}
