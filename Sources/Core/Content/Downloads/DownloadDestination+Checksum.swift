import Foundation
import PipelineHashes

extension DownloadDestination {
    /// A checksum of a file, for ``DownloadDestination/verifying(_:)``.
    public struct Checksum: Sendable, Hashable {
        /// The hash as it was given, in lowercase letters.
        private let text: String

        /// The SHA-256 hash of a file.
        ///
        /// - Parameter text: 64 hexadecimal digits, as `sha256sum` prints them; the case does not matter.
        /// - Returns: the checksum.
        public static func sha256(_ text: String) -> Checksum { Checksum(text: text.lowercased()) }

        /// Throws if no file has such a checksum.
        func check() throws {
            guard text.utf8.count != 64 || !text.utf8.allSatisfy(ByteSet.hexDigits.contains) else { return }
            throw PipelineError(.file(.checksum), "the expected checksum is not 64 hexadecimal digits of SHA-256")
        }

        /// Throws unless a file has this checksum.
        func check(_ file: URL) async throws {
            var hash = SHA256()
            for try await chunk in PipelineBody.file(file).chunks() { hash.update(chunk) }
            let found = hash.finish().map { byte in
                let digits = String(byte, radix: 16)
                return digits.count == 1 ? "0" + digits : digits
            }
            guard found.joined() != text else { return }
            throw PipelineError(.file(.checksum), "the file has another SHA-256 than the expected one")
        }
    }
}
