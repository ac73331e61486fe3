import PipelineRedaction
import TestSupport
import Testing

@Suite("SafelyDescribed", .watched)
struct SafelyDescribedTests {
    struct Session: SafelyDescribed {
        let token = "CANARY"
        var description: String { "a session" }
    }

    final class Vault: SafelyDescribed {
        let secrets = ["CANARY"]
        var description: String { "a vault" }
        var debugDescription: String { "a vault of \(secrets.count)" }
    }

    struct Holder {
        let session = Session()
        let vaults = [Vault()]
    }

    private static func dumped(_ value: Any) -> String {
        var text = ""
        dump(value, to: &text)
        return text
    }

    @Test("Printing, interpolation, String(reflecting:) and dump show only the description")
    func texts() {
        let session = Session()
        #expect("\(session)" == "a session")
        #expect(String(describing: session) == "a session")
        #expect(String(reflecting: session) == "a session")
        #expect(Self.dumped(session) == "- a session\n")
        #expect(Mirror(reflecting: session).children.isEmpty)
    }

    @Test("A type can show more in its debug description")
    func debugText() {
        let vault = Vault()
        #expect("\(vault)" == "a vault")
        #expect(String(reflecting: vault) == "a vault of 1")
        #expect(!Self.dumped(vault).contains("CANARY"))
        #expect(Self.dumped(vault).contains("a vault of 1"))
    }

    @Test("A collection, an optional and a property of a plain type show the description as well")
    func nested() {
        for value in [[Session()], Optional(Session()) as Any, ["key": Session()], Holder()] as [Any] {
            for text in ["\(value)", String(reflecting: value), Self.dumped(value)] {
                #expect(!text.contains("CANARY"))
                #expect(text.contains("a session"))
            }
        }
        #expect("\([Vault()])" == "[a vault of 1]")
    }
}
