extension CookieJar {
    /// Why a jar ignored a Set-Cookie field.
    enum Refusal: String, Error {
        /// The field contains a control character.
        case controlCharacter
        /// The field has neither a name nor a value.
        case empty
        /// The name and the value are longer than 4096 bytes.
        case tooLarge
        /// The domain is not the host's, or not in ASCII.
        case otherDomain
        /// The domain is a public suffix, such as `co.uk`.
        case publicSuffix
        /// The cookie is secure, or needs to be, and the connection or the cookie is not.
        case notSecure
        /// A secure cookie of the same name exists, and the connection is not secure.
        case secureCookieExists
        /// The name begins with a prefix, such as `__Host-`, whose conditions the cookie does not meet.
        case prefix
    }
}
