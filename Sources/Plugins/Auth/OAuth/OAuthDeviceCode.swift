public import Foundation
public import PipelineCore

/// The code that a user enters on another device to authorize this one.
///
/// **Secrets**: the description does not show the code.
///
/// Source: RFC 8628 §3.2, https://www.rfc-editor.org/rfc/rfc8628.html#section-3.2
public struct OAuthDeviceCode: SafelyDescribed, Sendable {
    /// The code to show to the user.
    public let userCode: String
    /// The page on which the user enters the code.
    public let verificationURL: URL
    /// The same page with the code filled in, for example for a QR code; `nil` if the server has none.
    public let completeVerificationURL: URL?
    /// The date when the code expires.
    public let expiry: Date

    /// What the value is.
    public var description: String { "a device code" }
}
