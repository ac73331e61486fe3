extension PipelineDescription {
    /// A match of an ``OrderRule`` in a stack.
    public struct Finding: Sendable, Hashable, CustomStringConvertible {
        /// The identifier of the ``OrderRule`` that matched.
        public let id: String
        /// The names of the plugins involved, with the subject of the rule first.
        ///
        /// If the rule is about the transport, its name is included.
        public let plugins: [String]
        /// The positions of these plugins, 1 for the outermost, as in ``Entry/position``.
        ///
        /// The transport has no position.
        public let positions: [Int]
        /// What is wrong, as a clause without the consequence, such as "RetryPlugin is inside AccessTokenPlugin".
        public let problem: String
        /// The consequence for the caller, as a clause.
        public let consequence: String
        /// What to do about the problem, as an imperative clause; `nil` for most hints.
        public let remedy: String?
        /// How serious the problem is.
        public let severity: OrderRule.Severity
        /// ``problem``, with the position of each plugin, such as "RetryPlugin (2) is inside AccessTokenPlugin (1)".
        let locatedProblem: String

        /// The problem, the consequence and the remedy in one sentence.
        public var message: String {
            let text = "\(problem): \(consequence)"
            return remedy.map { "\(text); \($0)" } ?? text
        }

        /// The severity, the identifier, the message with the position of each plugin, and the page of the findings, on
        /// one line.
        public var description: String { "\(lines[0]): \((lines[1...] + [Self.page]).joined(separator: "; "))" }

        static let page = "see Documentation/Findings.md of Pipeline"

        /// The problem, the consequence and the remedy on a line each.
        var lines: [String] { ["\(severity) \(id): \(locatedProblem)", consequence] + [remedy].compactMap(\.self) }
    }

    /// The properties of a plugin or the transport that rules depend on.
    fileprivate struct Element {
        let name: String
        /// `nil` for the transport.
        var position: Int?
        let capabilities: Set<PluginCapability>
        /// The capabilities that can exempt the element from a rule.
        let exemptions: Set<PluginCapability>
        var isOnHop = false
        var locatedName: String { position.map { "\(name) (\($0))" } ?? name }
    }

    /// Returns all matches, outermost subjects first.
    static func findings(
        of plugins: [any PluginType],
        _ transport: any Transport,
        for target: any TargetType.Type
    ) -> [Finding] {
        var rules = OrderRule.standard
        for case let plugin as any CapabilityDeclaring in plugins {
            rules += plugin.orderRules.filter { !rules.contains($0) }
        }
        var elements = effectiveOrder(plugins)
        let capabilities = transport.capabilities
        elements.append(Element(name: transport.name, capabilities: capabilities, exemptions: capabilities))
        return elements.indices.flatMap { index in rules.compactMap { finding($0, at: index, in: elements) } }
            + credentialsWithoutHosts(elements, for: target) + tokensWithoutTargets(elements, for: target)
            + conflicts(of: plugins)
            + transport.unsupportedSettings.map { setting in
                Finding(
                    id: setting.code.rawValue,
                    plugins: [transport.name],
                    positions: [],
                    problem: setting.problem,
                    consequence: "these requests fail with \(setting.code)",
                    remedy: setting.remedy,
                    severity: .fault,
                    locatedProblem: setting.problem
                )
            }
    }

    /// Returns the plugins whose credential or fields go to every host that a client of several hosts asks.
    ///
    /// A target asks for an access token itself, fields may be no secret, and the hosts of `MultiTarget` are those of
    /// the program's targets.
    private static func credentialsWithoutHosts(_ elements: [Element], for target: any TargetType.Type) -> [Finding] {
        guard target == URLTarget.self || target == MultiTarget.self else { return [] }
        return elements.compactMap { element in
            let capabilities = element.capabilities
            let isCredential = !capabilities.isDisjoint(with: [.setsCredential, .signs, .answersChallenges])
            guard isCredential || capabilities.contains(.setsFields), !element.exemptions.contains(.limitsHosts) else {
                return nil
            }
            let isLeak = target == URLTarget.self && isCredential && !capabilities.contains(.setsAccessToken)
            return Finding(
                id: "credential-to-every-host",
                about: element,
                problem: "is in a provider of \(target), and names no hosts",
                consequence: "its \(isCredential ? "credential goes" : "fields go") to every host that is called",
                remedy: "name the hosts, as in scope: .hosts([\"api.example.com\"])",
                severity: isLeak ? .leak : .hint
            )
        }
    }

    /// Returns the plugins that set an access token for targets that ask for one, if no target of the provider can.
    ///
    /// Providers may share a stack, so that this may be intended.
    private static func tokensWithoutTargets(_ elements: [Element], for target: any TargetType.Type) -> [Finding] {
        guard !(target is any AccessTokenAuthorizable.Type) else { return [] }
        return elements.filter { $0.capabilities.contains(.setsAccessToken) }.map { element in
            Finding(
                id: "token-without-target",
                about: element,
                problem: "is in a provider of \(target), which does not conform to AccessTokenAuthorizable",
                consequence: "no request gets a token",
                remedy: "if requests need one, conform \(target) to AccessTokenAuthorizable",
                severity: .hint
            )
        }
    }

    /// Returns the elements of the call level, followed by those of the hop level inside it.
    ///
    /// The capabilities of an exchange plugin belong to the hop level, except for `identifiesCalls`. It belongs to the
    /// call level, and exempts the plugin at the hop level. A plugin with an access token that also intercepts sets the
    /// token there.
    private static func effectiveOrder(_ plugins: [any PluginType]) -> [Element] {
        var hops: [Element] = []
        var calls: [Element] = []
        for (index, plugin) in plugins.enumerated() {
            let (name, position) = (plugin.name, index + 1)
            let declared = (plugin as? any CapabilityDeclaring)?.capabilities ?? []
            let isOnHop = plugin is any Stage.Exchange
            let isEarly = !isOnHop || (plugin is any Stage.Intercept && declared.contains(.setsAccessToken))
            let early = isEarly ? declared : declared.intersection([.identifiesCalls])
            if isOnHop {
                let late = declared.subtracting(early)
                hops.append(
                    Element(name: name, position: position, capabilities: late, exemptions: declared, isOnHop: true)
                )
            }
            let all = derivedCapabilities(of: plugin).union(early)
            calls.append(Element(name: name, position: position, capabilities: all, exemptions: all))
        }
        return calls + hops
    }

    private static func derivedCapabilities(of plugin: any PluginType) -> Set<PluginCapability> {
        var capabilities: Set<PluginCapability> = []
        let intercepts = plugin is any Stage.Intercept
        if intercepts { capabilities.insert(.intercepts) }
        if intercepts || plugin is any Stage.Prepare || plugin is any Stage.Process {
            capabilities.insert(.actsOnCalls)
        }
        return capabilities
    }

    private static func finding(_ rule: OrderRule, at index: Int, in elements: [Element]) -> Finding? {
        let subject = elements[index]
        guard !rule.subject.isDisjoint(with: subject.capabilities) else { return nil }
        let candidates =
            switch rule.place {
            case .inside: elements[..<index]
            case .outside: elements[(index + 1)...]
            case .without: elements[...]
            }
        let others = candidates.filter {
            !rule.other.isDisjoint(with: $0.capabilities) && rule.exempt.isDisjoint(with: $0.exemptions)
        }
        guard others.isEmpty == (rule.place == .without) else { return nil }
        let involved = [subject] + others
        let isTwice = others.map(\.name) == [subject.name]
        let needsRemedy = rule.severity != .hint && rule.place != .without
        return Finding(
            id: rule.id,
            plugins: involved.map(\.name),
            positions: involved.compactMap(\.position),
            problem: "\(subject.name) is \(isTwice ? "used twice" : place(of: rule, others.map(\.name)))",
            consequence: rule.consequence,
            remedy: rule.remedy ?? (needsRemedy ? remedy(of: rule, subject, others) : nil),
            severity: rule.severity,
            locatedProblem: "\(subject.locatedName) is \(place(of: rule, others.map(\.locatedName)))"
        )
    }

    private static func place(of rule: OrderRule, _ others: [String]) -> String {
        guard rule.place != .without else {
            return "in a stack without a plugin that " + rule.other.map(\.name).sorted().joined(separator: " or ")
        }
        return "\(rule.place.rawValue) \(others.joined(separator: ", "))"
    }

    private static func remedy(of rule: OrderRule, _ subject: Element, _ others: [Element]) -> String {
        func names(_ elements: [Element]) -> String { elements.map(\.name).joined(separator: ", ") }
        // Reordering the list never moves an exchange plugin outside a call-level plugin.
        let late = others.filter { $0.isOnHop && !subject.isOnHop && rule.exempt.contains(.identifiesCalls) }
        let otherSide = rule.place == .inside ? "outside" : "inside"
        if late.isEmpty { return "move \(subject.name) \(otherSide) \(names(others))" }
        let identify = "call addIdentity(_:of:) in the prepare stage of \(names(late)) and declare identifiesCalls"
        let movable = others.filter { !$0.isOnHop }
        return movable.isEmpty ? identify : "move \(subject.name) \(otherSide) \(names(movable)), and \(identify)"
    }
}

extension PipelineDescription.Finding {
    /// Makes a finding about one plugin.
    fileprivate init(
        id: String,
        about element: PipelineDescription.Element,
        problem: String,
        consequence: String,
        remedy: String,
        severity: OrderRule.Severity
    ) {
        self.init(
            id: id,
            plugins: [element.name],
            positions: [element.position].compactMap(\.self),
            problem: "\(element.name) \(problem)",
            consequence: consequence,
            remedy: remedy,
            severity: severity,
            locatedProblem: "\(element.locatedName) \(problem)"
        )
    }
}
