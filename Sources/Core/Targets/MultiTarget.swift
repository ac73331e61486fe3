public import Foundation

/// A wrapper for any target, so that one provider can serve several APIs.
///
/// A `Provider<MultiTarget>` also takes any target directly. Plugins never see the wrapper: ``PipelineContext/target``
/// is the innermost target, and wrapping a `MultiTarget` again does not nest.
public struct MultiTarget: TargetType, AccessTokenAuthorizable {
    /// The wrapped target; never itself a `MultiTarget`.
    public let target: any TargetType

    /// Creates a wrapper for a target; a `MultiTarget` is unwrapped first.
    public init(_ target: any TargetType) {
        self.target = (target as? MultiTarget)?.target ?? target
    }

    /// Wraps a target, as ``init(_:)`` does.
    public static func target(_ target: any TargetType) -> MultiTarget {
        MultiTarget(target)
    }

    /// The wrapped target's base URL.
    public var baseURL: URL { target.baseURL }

    /// The wrapped target's path.
    public var path: String { target.path }

    /// The wrapped target's path template.
    public var pathTemplate: String? { target.pathTemplate }

    /// The wrapped target's method.
    public var method: HTTPMethod { target.method }

    /// The wrapped target's task.
    public var task: RequestTask { target.task }

    /// The wrapped target's header fields.
    public var headers: [String: String]? { target.headers }

    /// The wrapped target's validation.
    public var validationType: ValidationType { target.validationType }

    /// The wrapped target's sample body.
    public var sampleData: Data { target.sampleData }

    /// The wrapped target's options.
    public var options: RequestOptions { target.options }

    /// The wrapped target's refusal.
    public var refusal: PipelineError? { target.refusal }

    /// The wrapped target's authorization type; `nil` if it has none.
    public var authorizationType: AuthorizationType? {
        (target as? any AccessTokenAuthorizable)?.authorizationType
    }
}

extension MultiTarget: CustomStringConvertible, CustomReflectable {
    /// The target's own description or, if it has none, its type and case, without header fields and values.
    public var description: String {
        (target as? any CustomStringConvertible)?.description ?? PipelineError.name(of: target)
    }

    /// Shows the same as the description, so that `dump` reveals no secrets.
    public var customMirror: Mirror { Mirror(self, children: ["target": description]) }
}
