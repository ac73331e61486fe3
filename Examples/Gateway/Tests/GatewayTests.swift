import Testing

@Suite struct GatewayTests {
    @Test("placeholder") func placeholder() {}
}
