/// The reason why the credential of a ``TokenRefreshPlugin`` changed.
public struct TokenCredentialChange: Sendable, Hashable {
    private enum Kind: String { case logIn, refresh, logOut, sessionEnd }

    private let kind: Kind

    /// The application set a credential.
    public static let logIn = Self(kind: .logIn)
    /// The closure `refresh` or `obtain` returned a new credential.
    public static let refresh = Self(kind: .refresh)
    /// The application removed the credential.
    public static let logOut = Self(kind: .logOut)
    /// The closure `refresh` or `obtain` returned `nil` for the present credential.
    public static let sessionEnd = Self(kind: .sessionEnd)
}

extension TokenCredentialChange: CustomStringConvertible {
    /// The name of the reason: `logIn`, `refresh`, `logOut` or `sessionEnd`.
    public var description: String { kind.rawValue }
}
