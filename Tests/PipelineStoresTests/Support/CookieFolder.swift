import Foundation

@testable import PipelineCaching

/// A temporary folder for cookie files that is removed when its last reference is released.
final class CookieFolder: Sendable {
    let url = FileManager.default.temporaryDirectory.appending(path: "cookies-\(UUID().uuidString)")

    init() throws { try FileManager.default.createDirectory(at: url, withIntermediateDirectories: false) }

    deinit { try? FileManager.default.removeItem(at: url) }

    /// The file of the stores, which does not exist at first.
    var file: URL { url.appending(path: "cookies.json") }

    func store(
        _ sessionCookies: FileCookieStore.SessionCookies = .discarded,
        patience: Duration = .seconds(60)
    ) -> FileCookieStore {
        FileCookieStore(file, sessionCookies: sessionCookies, patience: patience)
    }

    /// The names of the files in the folder.
    var names: [String] {
        get throws { try FileManager.default.contentsOfDirectory(atPath: url.path).sorted() }
    }

    static func mode(of url: URL) throws -> Int? {
        try FileManager.default.attributesOfItem(atPath: url.path)[.posixPermissions] as? Int
    }
}

extension CookieJar.Cookie {
    static let date = Date(timeIntervalSince1970: 1_700_000_000.123)

    /// A cookie that a file keeps.
    static func lasting(_ name: String, _ value: String = "canary") -> CookieJar.Cookie {
        CookieJar.Cookie(name, value, domain: "a.test", expiry: date + 86_400, created: date)
    }

    static func session(_ name: String) -> CookieJar.Cookie {
        CookieJar.Cookie(name, "canary", domain: "a.test", created: date)
    }
}

extension CookieStore {
    func insert(_ cookies: CookieJar.Cookie...) async throws {
        try await update(account: "") { $0.insert(cookies) }
    }

    /// The names of the cookies of the account without a name.
    var names: [String] {
        get async throws { try await jar(account: "").cookies.map(\.name) }
    }
}
