import Testing

@Suite struct GitHubTests {
    @Test("placeholder") func placeholder() {}
}
