import Pipeline
import TestSupport
import Testing

@testable import PipelineCore

@Suite("Link fields", .watched)
struct LinkFieldTests {
    private typealias Link = LinkField.Link

    @Test("Commas separate links, except within quotes or a URL")
    func commas() {
        let value = #"<https://a.example/?page=2,3>; title="one, <two>; rel=\"prev\""; rel="next", </last>; rel=last"#
        let links = LinkField.links(in: value)
        #expect(links.map(\.reference) == ["https://a.example/?page=2,3", "/last"])
        #expect(links.map(\.relations) == [["next"], ["last"]])
    }

    @Test(
        "A link has the space-separated relations of its first rel parameter, in lower case",
        arguments: [
            (#"<a>; rel="next prefetch""#, ["next", "prefetch"]), ("<a>;REL=NEXT", ["next"]),
            (#"<a>; rel = "next""#, ["next"]), (#"<a>; rel=prev; rel=next"#, ["prev"]), ("<a>", []), ("<a>; rel", []),
            (#"<a>; rel="ne\xt""#, ["next"]), (#"<a> ; ; rel=next;"#, ["next"]), (#"<a>; title=next"#, []),
        ]
    )
    func relations(value: String, relations: [String]) {
        #expect(LinkField.links(in: value) == [Link(reference: "a", relations: relations)])
    }

    @Test("A link with an anchor is marked, because it belongs to another resource")
    func anchor() {
        let links = LinkField.links(in: ##"<a>; rel=next; anchor="#part", <b>; rel=next"##)
        #expect(links.map(\.hasAnchor) == [true, false])
    }

    @Test(
        "Parsing stops at the first malformed link",
        arguments: ["", " , ", "a", "<a", "rel=next, <a>; rel=next"]
    )
    func malformed(value: String) {
        #expect(LinkField.links(in: value) == [])
        #expect(LinkField.links(in: "<b>; rel=next, " + value).first?.reference == "b")
    }

    @Test("Written links are parsed back, whatever the whitespace and quoting", arguments: 0..<50)
    func roundTrip(seed: Int) {
        var random = PipelineRandom.seeded(UInt64(seed))
        let links = (0..<Int.random(in: 1...6, using: &random)).map { _ in
            Link(
                reference: text("abc/?=&;,\" %2F:", &random),
                relations: (0..<Int.random(in: 0...3, using: &random)).map { _ in "r" + text("abz-", &random) },
                hasAnchor: Bool.random(using: &random)
            )
        }
        let value = links.map { written($0, &random) }.joined(separator: blank(&random) + "," + blank(&random))
        #expect(LinkField.links(in: value) == links, "\(value)")
    }

    @Test("Parsing random text terminates and yields only links from the text", arguments: 0..<200)
    func anyText(seed: Int) {
        var random = PipelineRandom.seeded(UInt64(seed))
        let value = String((0..<200).compactMap { _ in #"<>;,="\ rel/nextä"#.randomElement(using: &random) })
        let links = LinkField.links(in: value)
        #expect(links.count <= value.count { $0 == "<" })
        #expect(links.allSatisfy { value.contains("<\($0.reference)>") })
    }

    private func written(_ link: Link, _ random: inout PipelineRandom) -> String {
        var parameters: [String] = []
        if !link.relations.isEmpty {
            parameters.append(
                "rel" + blank(&random) + "=" + blank(&random) + quoted(link.relations.joined(separator: " "), &random)
            )
        }
        if link.hasAnchor { parameters.append("anchor=" + quoted("#,;", &random)) }
        if Bool.random(using: &random) { parameters.append("title=" + quoted(#"a,"b;<c>"#, &random)) }
        parameters.shuffle(using: &random)
        return "<\(link.reference)>" + parameters.map { blank(&random) + ";" + blank(&random) + $0 }.joined()
    }

    /// Returns a quoted string in which quotes and random other characters are escaped.
    private func quoted(_ text: String, _ random: inout PipelineRandom) -> String {
        "\"" + text.map { $0 == "\"" || Bool.random(using: &random) ? "\\\($0)" : "\($0)" }.joined() + "\""
    }

    private func text(_ alphabet: String, _ random: inout PipelineRandom) -> String {
        String((0..<Int.random(in: 0...8, using: &random)).compactMap { _ in alphabet.randomElement(using: &random) })
    }

    private func blank(_ random: inout PipelineRandom) -> String {
        ["", " ", "\t "].randomElement(using: &random) ?? ""
    }
}
