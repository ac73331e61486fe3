extension CookieJar {
    /// Why a jar ignored a Set-Cookie field.
    public struct Refusal: Error, Sendable, Hashable, CustomStringConvertible {
        /// The name of the reason.
        public let rawValue: String

        private init(_ rawValue: String) {
            self.rawValue = rawValue
        }

        /// The name of the reason.
        public var description: String { rawValue }

        /// The field contains a control character.
        public static let controlCharacter = Self("controlCharacter")
        /// The field has neither a name nor a value.
        public static let empty = Self("empty")
        /// The name and the value are longer than 4096 bytes.
        public static let tooLarge = Self("tooLarge")
        /// The domain is not the host's, or not in ASCII.
        public static let otherDomain = Self("otherDomain")
        /// The domain is a public suffix, such as `co.uk`.
        public static let publicSuffix = Self("publicSuffix")
        /// The cookie is secure, or needs to be, and the connection or the cookie is not.
        public static let notSecure = Self("notSecure")
        /// A secure cookie of the same name exists, and the connection is not secure.
        public static let secureCookieExists = Self("secureCookieExists")
        /// The name begins with a prefix, such as `__Host-`, whose conditions the cookie does not meet.
        public static let prefix = Self("prefix")
    }
}
