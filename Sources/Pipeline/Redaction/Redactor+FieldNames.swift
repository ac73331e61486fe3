package import HTTPTypes

extension Redactor {
    private static let secretWords = Set(standardSecretNames.map { $0.filter { $0 != "_" } })
    private static let longWords = secretWords.filter { $0.utf8.count >= 5 }
    private static let partWords = secretWords.union(["key"])

    /// Whether a field of this name is likely to carry a secret.
    package static func soundsSecret(_ name: HTTPField.Name) -> Bool {
        if name == .authorization || name == .cookie || name == .proxyAuthorization { return true }
        guard !standardHeaderFields.contains(name) else { return false }
        let parts = name.canonicalName.split { !$0.isLetter && !$0.isNumber }
        let joined = parts.joined()
        return parts.contains { partWords.contains(String($0)) } || longWords.contains { joined.contains($0) }
    }
}
