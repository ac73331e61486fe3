/// A rule about the order of plugins, in terms of their capabilities.
///
/// ```swift
/// OrderRule(
///     "audit-inside-cache", [.audits], .inside, [.caches],
///     consequence: "responses from the cache are not audited"
/// )
/// ```
public struct OrderRule: Sendable, Hashable {
    /// Where the subject of a rule is, relative to the other plugin.
    public enum Place: String, Sendable {
        /// Inside another plugin.
        case inside
        /// Outside another plugin or the transport.
        case outside
        /// In a stack without the other plugin.
        case without
    }

    /// What a match of a rule means.
    public enum Severity: String, Sendable {
        /// One account could see what belongs to another, or a credential goes where it must not.
        ///
        /// The plugins of this package then do not share what they cannot attribute, so that the order costs speed.
        case leak
        /// A plugin cannot do its work at its position.
        case fault
        /// The order may be intended.
        case hint
    }

    /// The stable identifier of the rule, such as `retry-inside-credential`.
    public let id: String
    /// The capabilities that make a plugin the subject; one of them is enough.
    public let subject: Set<PluginCapability>
    /// Where the subject is, relative to the other plugin.
    public let place: Place
    /// The capabilities that make a plugin the other plugin; one of them is enough.
    public let other: Set<PluginCapability>
    /// The capabilities that exempt the other plugin from the rule.
    public let exempt: Set<PluginCapability>
    /// The consequence for the caller.
    public let consequence: String
    /// What to do about a match.
    ///
    /// If `nil`, move the subject to the other side; for a hint, do nothing.
    public let remedy: String?
    /// What a match means.
    public let severity: Severity

    /// Makes a rule.
    ///
    /// - Parameters:
    ///   - id: the stable identifier, in lowercase words with hyphens.
    ///   - subject: the capabilities that make a plugin the subject; one of them is enough.
    ///   - place: where the subject is, relative to the other plugin.
    ///   - other: the capabilities that make a plugin the other plugin; one of them is enough.
    ///   - exempt: the capabilities that exempt the other plugin from the rule.
    ///   - consequence: the consequence for the caller, as a clause.
    ///   - remedy: what to do, as an imperative clause; `nil` to move the subject to the other side.
    ///   - severity: what a match means; defaults to a fault.
    public init(
        _ id: String,
        _ subject: Set<PluginCapability>,
        _ place: Place,
        _ other: Set<PluginCapability>,
        except exempt: Set<PluginCapability> = [],
        consequence: String,
        remedy: String? = nil,
        severity: Severity = .fault
    ) {
        self.id = id
        self.subject = subject
        self.place = place
        self.other = other
        self.exempt = exempt
        self.consequence = consequence
        self.remedy = remedy
        self.severity = severity
    }
}

extension OrderRule {
    /// The rules that ``Provider/explain()`` applies to every stack.
    public static let standard: [OrderRule] = [
        OrderRule(
            "retry-inside-retry",
            [.retries],
            .inside,
            [.retries],
            consequence: "each attempt of the outer plugin repeats all attempts of the inner one",
            remedy: "keep one of them"
        ),
        OrderRule(
            "retry-inside-credential",
            [.retries],
            .inside,
            [.setsCredential, .signs],
            consequence: "every attempt is sent with the credential or signature of the first, even if that has expired"
        ),
        OrderRule(
            "sharing-outside-credential",
            [.sharesResponses, .caches],
            .outside,
            [.setsCredential, .setsFields, .signs],
            except: [.identifiesCalls],
            consequence:
                "requests are compared before the inner plugin sets its values; "
                + "to keep accounts apart, no response to these requests is shared or stored",
            severity: .leak
        ),
        OrderRule(
            "sharing-outside-identity",
            [.sharesResponses, .caches],
            .outside,
            [.identifiesCalls],
            consequence: "the identity is added too late, so responses to its requests are neither shared nor stored",
            severity: .leak
        ),
        OrderRule(
            "sharing-of-unknown-account",
            [.setsUnknownCredential],
            .inside,
            [.sharesResponses],
            consequence: "responses to requests with its credential are not shared",
            remedy: "give it the account of each call, or the same text for all calls if there is one account",
            severity: .hint
        ),
        OrderRule(
            "sharing-outside-delivery",
            [.sharesResponses],
            .outside,
            [.delaysResults, .reportsUnauthorized],
            consequence: "the inner plugin acts only for the first of the calls that share a response"
        ),
        OrderRule(
            "sharing-inside-sharing",
            [.sharesResponses],
            .inside,
            [.sharesResponses],
            consequence: "the inner plugin has nothing left to share",
            remedy: "keep one of them"
        ),
        OrderRule(
            "sharing-outside-work",
            [.sharesResponses],
            .outside,
            [.actsOnCalls],
            except: [.codesContent],
            consequence:
                "each inner plugin runs once for all calls that share a response, with target and options of the first",
            remedy: "move the outer plugin inside those that each call needs",
            severity: .hint
        ),
        OrderRule(
            "delay-inside-retry",
            [.delaysResults],
            .inside,
            [.retries],
            consequence: "the result of every attempt is delayed, not that of the call"
        ),
        OrderRule(
            "span-inside-retry",
            [.spansCalls],
            .inside,
            [.retries],
            consequence: "it does not cover the waits between attempts"
        ),
        OrderRule(
            "span-inside-sharing",
            [.spansCalls],
            .inside,
            [.sharesResponses],
            consequence: "it does not cover the wait for the response to another call"
        ),
        OrderRule(
            "span-inside-interceptor",
            [.spansCalls],
            .inside,
            [.intercepts],
            except: [.retries, .sharesResponses, .spansCalls],
            consequence: "it does not cover what the outer plugin waits for",
            severity: .hint
        ),
        OrderRule(
            "report-inside-challenge",
            [.reportsUnauthorized],
            .inside,
            [.answersChallenges],
            consequence: "it reports every 401, including those that another credential resolves"
        ),
        OrderRule(
            "token-inside-token",
            [.setsAccessToken],
            .inside,
            [.setsAccessToken],
            consequence:
                "the inner plugin replaces the token of the outer one, which is obtained in vain and never refreshed",
            remedy: "keep one of them"
        ),
        OrderRule(
            "change-inside-signature",
            [.setsCredential, .setsFields, .codesContent, .answersChallenges],
            .inside,
            [.signs],
            consequence: "the signature does not cover what it changes"
        ),
        OrderRule(
            "coding-inside-coding",
            [.codesContent],
            .inside,
            [.codesContent],
            consequence: "the inner plugin leaves alone what the outer one has encoded, and the other way round",
            remedy: "keep one of them"
        ),
        OrderRule(
            "credential-over-any-tls",
            [.setsCredential, .signs, .answersChallenges],
            .outside,
            [.leavesTLSVersion],
            consequence: "the machine's TLS library decides whether a server may use TLS 1.0 or 1.1",
            remedy: "use another transport, or set MinProtocol = TLSv1.2 in the OpenSSL configuration of the machine",
            severity: .hint
        ),
        OrderRule(
            "content-inside-coding",
            [.showsContent],
            .inside,
            [.codesContent],
            consequence: "it shows content as it is on the wire",
            severity: .hint
        ),
    ]
}
