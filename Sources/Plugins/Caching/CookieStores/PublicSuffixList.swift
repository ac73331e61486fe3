import Foundation

/// The rules that say under which domains anyone can register names, such as `com`, `co.uk` and `github.io`.
///
/// A cookie store uses it to reject a cookie whose Domain attribute is a public suffix (RFC 6265bis, section 5.7).
/// Otherwise, every site under that suffix would receive the cookie.
///
/// Hosts may be in any case and contain Unicode labels or their `xn--` forms. Labels are converted to lower case and to
/// Unicode normalization form C, and encoded with Punycode (RFC 3492). The other mappings of UTS #46 are not applied.
/// Ideographic full stops separate labels. A dot at the end of a host is kept in the result.
///
/// **Effects**: a value without I/O, except ``system``. A list of 10,000 rules takes about 0.5 MB of memory. A lookup
/// takes time in proportion to the number of labels, not of rules.
///
/// ```swift
/// let list = PublicSuffixList("com\nuk\nco.uk")
/// list.registrableDomain(of: "www.example.co.uk")  // "example.co.uk"
/// list.registrableDomain(of: "co.uk")  // nil
/// ```
///
/// Source: [the format and the algorithm](https://github.com/publicsuffix/list/wiki/Format) of publicsuffix.org.
public struct PublicSuffixList: Sendable {
    private var rules: Set<String> = []
    /// The parents of the domains that `*` matches.
    private var wildcards: Set<String> = []
    private var exceptions: Set<String> = []

    /// Parses the contents of a `public_suffix_list.dat`, with its ICANN and its private section.
    ///
    /// Each line is read up to its first white space. Comments (`//`) are skipped, as are lines that are not a rule: a
    /// domain, a domain after `*.`, or a domain of at least two labels after `!`.
    ///
    /// - Parameter text: the list. Without any rule, the last label of every host is its public suffix.
    public init(_ text: String) {
        for line in text.utf8.split(whereSeparator: { $0 == UInt8(ascii: "\n") || $0 == UInt8(ascii: "\r") }) {
            let rule = line.prefix { $0 > UInt8(ascii: " ") }
            if rule.isEmpty || rule.starts(with: "//".utf8) { continue }
            if rule.starts(with: "!".utf8) {
                guard let domain = Self.domain(rule.dropFirst()), domain.contains(".") else { continue }
                exceptions.insert(domain)
            } else if rule.starts(with: "*.".utf8) {
                guard let domain = Self.domain(rule.dropFirst(2)) else { continue }
                wildcards.insert(domain)
            } else if let domain = Self.domain(rule) {
                rules.insert(domain)
            }
        }
    }

    private static func domain(_ rule: Substring.UTF8View) -> String? {
        guard rule.last != UInt8(ascii: "."), !rule.contains(UInt8(ascii: "*")) else { return nil }
        return Punycode.asciiHost(String(Substring(rule)))
    }

    var ruleCount: Int { rules.count + wildcards.count + exceptions.count }

    /// Returns the public suffix of a host, for example `co.uk` for `www.example.co.uk`.
    ///
    /// A host under no rule has its last label as the public suffix, as if the list contained the rule `*`. A host that
    /// is itself a public suffix is returned.
    ///
    /// - Parameter host: a host name, without a port.
    /// - Returns: the suffix in lower-case ASCII form; `nil` if the host is an IP address, is empty, contains an empty
    ///   label, or is not a valid host name.
    func suffix(of host: String) -> String? {
        division(of: host)?.suffix
    }

    /// Returns the public suffix of a host with one more label, for example `example.co.uk` for `www.example.co.uk`.
    ///
    /// A host under no rule has its last label as the public suffix.
    ///
    /// - Parameter host: a host name, without a port.
    /// - Returns: the domain in lower-case ASCII form; `nil` if the host is a public suffix, is an IP address, or is no
    ///   host name.
    public func registrableDomain(of host: String) -> String? {
        division(of: host)?.registrableDomain
    }

    private func division(of host: String) -> (suffix: String, registrableDomain: String?)? {
        guard let host = Punycode.asciiHost(host), !Punycode.isIPAddress(host) else { return nil }
        let name = host.utf8.last == UInt8(ascii: ".") ? host.dropLast() : host[...]
        let labels = name.utf8.split(separator: UInt8(ascii: ".")).map(\.startIndex)
        let first = suffixLabel(of: name, labels: labels)
        return (String(host[labels[first]...]), first > 0 ? String(host[labels[first - 1]...]) : nil)
    }

    /// Returns the position of the label at which the public suffix begins.
    private func suffixLabel(of name: Substring, labels: [String.Index]) -> Int {
        var result = labels.count - 1
        for label in labels.indices.reversed() {
            let domain = String(name[labels[label]...])
            // An exception prevails over all other rules, and its leftmost label is not part of the suffix.
            if exceptions.contains(domain) { return label + 1 }
            if rules.contains(domain) { result = label }
            if label > 0, wildcards.contains(domain) { result = label - 1 }
        }
        return result
    }
}

extension PublicSuffixList {
    /// The list that the operating system keeps up to date; `nil` if there is none, as on Apple platforms.
    ///
    /// Reads `/usr/share/publicsuffix/public_suffix_list.dat`, or `effective_tld_names.dat` in the same folder. On
    /// Debian, the package `publicsuffix` installs both. The first access reads and parses the file, which takes about
    /// 20 ms and blocks; the result is kept until the process exits. A file that cannot be read, is larger than 16 MiB,
    /// is not UTF-8, or contains no rule is ignored.
    public static let system = PublicSuffixList(
        firstOf: [
            "/usr/share/publicsuffix/public_suffix_list.dat",
            "/usr/share/publicsuffix/effective_tld_names.dat",
        ],
        maximumByteCount: 16 << 20
    )

    /// Makes a list from the first of the files that can be used.
    init?(firstOf paths: [String], maximumByteCount: Int) {
        let lists = paths.lazy.compactMap { Self(path: $0, maximumByteCount: maximumByteCount) }
        guard let list = lists.first else { return nil }
        self = list
    }

    private init?(path: String, maximumByteCount: Int) {
        guard let file = FileHandle(forReadingAtPath: path) else { return nil }
        defer { try? file.close() }
        guard let data = try? file.read(upToCount: maximumByteCount + 1), data.count <= maximumByteCount,
            let text = String(data: data, encoding: .utf8)
        else { return nil }
        self.init(text)
        if ruleCount == 0 { return nil }
    }
}
