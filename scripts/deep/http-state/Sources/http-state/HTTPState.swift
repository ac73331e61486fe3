import Foundation
import PipelineCaching

/// The outcome of one test: `nil` if it passed.
private struct Difference {
    let id: String
    let sent: String
    let expected: String
    let clause: String?
}

@main
enum HTTPState {
    private static let now = Date(timeIntervalSince1970: 1_300_000_000)

    static func main() throws {
        guard CommandLine.arguments.count == 2 else {
            print("usage: http-state FOLDER, the folder tests/data of http-state")
            exit(2)
        }
        let folder = URL(filePath: CommandLine.arguments[1])
        let isSound = try runCookies(folder.appending(path: "parser"))
        let datesAreSound = try ["examples", "bsd-examples"].allSatisfy { name in
            try runDates(folder.appending(path: "dates/\(name).json"))
        }
        exit(isSound && datesAreSound ? 0 : 1)
    }

    // MARK: Cookies

    private static func runCookies(_ folder: URL) throws -> Bool {
        let names = try FileManager.default.contentsOfDirectory(atPath: folder.path(percentEncoded: false))
        let ids = names.filter { $0.hasSuffix("-test") }.map { String($0.dropLast(5)) }.sorted()
        let differences = try ids.compactMap { try difference($0, in: folder) }
        let disabled = differences.count { $0.id.hasPrefix("disabled-") }
        let explained = differences.count { $0.clause != nil }
        print("cookies: \(ids.count - differences.count) of \(ids.count) agree; \(explained) differ by a clause")
        for difference in differences {
            print("\(difference.id): sent “\(difference.sent)”, expected “\(difference.expected)”: \(difference.clause ?? "NO CLAUSE")")
        }
        if disabled > 0 { print("\(disabled) of those that differ are disabled in the suite itself") }
        return explained == differences.count
    }

    private static func difference(_ id: String, in folder: URL) throws -> Difference? {
        let lines = try text(folder.appending(path: "\(id)-test")).split(separator: "\n").map { $0.hasSuffix("\r") ? $0.dropLast() : $0 }
        let expected = try text(folder.appending(path: "\(id)-expected")).trimmingCharacters(in: .newlines)
        // Without a public suffix list, because the suite uses names that no list has. `org` is a suffix in each of them.
        let rules = CookieRules(publicSuffixes: PublicSuffixList("org"))
        var jar = CookieJar()
        var (authority, path) = ("home.example.org:8888", "/cookie-parser-result?\(id)")
        guard let origin = CookieJar.Request(scheme: "http", authority: authority, path: "/cookie-parser?\(id)") else { return nil }
        var fields: [String] = []
        for line in lines {
            let value = line.drop { $0 != ":" }.dropFirst().drop { $0 == " " }
            if line.lowercased().hasPrefix("set-cookie:") {
                fields.append(String(value))
                jar.store([String(value)], from: origin, rules: rules, at: now)
            } else if line.lowercased().hasPrefix("location:") {
                if let url = URL(string: String(value)), let host = url.host() { authority = host }
                path = value.hasPrefix("/") ? String(value) : URL(string: String(value))?.path() ?? path
            }
        }
        guard let request = CookieJar.Request(scheme: "http", authority: authority, path: path) else { return nil }
        let sent = jar.cookies(for: request, rules: rules, at: now).fieldValue.map { "Cookie: \($0)" } ?? ""
        guard sent != expected else { return nil }
        return Difference(id: id, sent: sent, expected: expected, clause: clause(id, fields))
    }

    /// Returns the clause of RFC 6265bis that contradicts a test, which was written for RFC 6265.
    private static func clause(_ id: String, _ fields: [String]) -> String? {
        if fields.contains(where: { $0.utf8.contains { $0 < 0x20 && $0 != 0x09 || $0 == 0x7F } }) {
            return "§5.6 step 1: a field with a control character is ignored"
        }
        let isNameless = fields.contains { field in
            let pair = field.prefix { $0 != ";" }
            return !pair.contains("=") || pair.prefix { $0 != "=" }.allSatisfy { $0 == " " || $0 == "\t" }
        }
        if isNameless { return "§5.6 step 3: a cookie may have no name" }
        switch id {
        case "optional-domain0042": return "§5.6.3: of several Domain attributes the last counts, here an empty one"
        case "disabled-path0029": return "§5.1.4: paths are compared without decoding"
        default: return nil
        }
    }

    private static func text(_ file: URL) throws -> String {
        String(decoding: try Data(contentsOf: file), as: UTF8.self)
    }

    // MARK: Dates

    private struct Row: Decodable {
        let test: String
        let expected: String?
    }

    private static func runDates(_ file: URL) throws -> Bool {
        let lines = try text(file).split(separator: "\n").filter { !$0.drop(while: \.isWhitespace).hasPrefix("//") }
        let rows = try JSONDecoder().decode([Row].self, from: Data(lines.joined(separator: "\n").utf8))
        let format = DateFormatter()
        format.locale = Locale(identifier: "en_US_POSIX")
        format.timeZone = .gmt
        format.dateFormat = "EEE, dd MMM yyyy HH:mm:ss 'GMT'"
        var failures: [String] = []
        for row in rows {
            let date = expiry(row.test).map(format.string)
            // A date before the current time removes the cookie, and one after 400 days is cut, so that only their order shows.
            if date != row.expected { failures.append("\(row.test): \(date ?? "none"), expected \(row.expected ?? "none")") }
        }
        print("\(file.lastPathComponent): \(rows.count - failures.count) of \(rows.count) agree")
        failures.forEach { print($0) }
        return failures.isEmpty
    }

    /// Returns the expiry that a jar reads from an Expires attribute.
    ///
    /// The time of the jar is before all dates of the suite, and close enough to each that none is cut to 400 days.
    private static func expiry(_ text: String) -> Date? {
        let rules = CookieRules(publicSuffixes: nil)
        guard let request = CookieJar.Request(scheme: "https", authority: "a.test", path: "/") else { return nil }
        var day = Date(timeIntervalSince1970: -12_000_000_000)
        let step: TimeInterval = 399 * 24 * 60 * 60
        while day < Date(timeIntervalSince1970: 10_000_000_000) {
            var jar = CookieJar()
            jar.store(["a=b; expires=\(text)"], from: request, rules: rules, at: day)
            guard let cookie = jar.cookies.first else { return nil }
            guard let expiry = cookie.expiry else { return nil }
            if expiry < day.addingTimeInterval(step) { return expiry }
            day += step
        }
        return nil
    }
}
