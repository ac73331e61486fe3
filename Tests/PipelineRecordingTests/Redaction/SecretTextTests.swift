import Foundation
import Pipeline
import TestSupport
import Testing

@testable import PipelineRecording

@Suite("F14 Secrets in recorded XML and text", .watched)
struct SecretTextTests {
    private let redaction = RecordingRedaction(.standard)

    @Test("F14 redacting a long text takes linear time")
    func linear() {
        for text in [
            "<password>", "<password ", "<!--", "<![CDATA[", "<?", "<!DOCTYPE[", "<a b=", "<a password='", "<a '",
            "password=",
            "password: ", "\npassword=&", " password=\"", "a ", "<a \\\\", "<sig>", "]", "<!--<![CDATA[<?",
        ] {
            for start in ["", "<", "<password>", "x"] {
                _ = redaction.body(
                    Data((start + String(repeating: text, count: 100_000 / text.utf8.count)).utf8),
                    contentType: nil
                )
            }
        }
    }
}
