import Foundation

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
