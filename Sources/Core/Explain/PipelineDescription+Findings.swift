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

        /// The problem, the consequence and the remedy in one sentence.
        public var message: String {
            let text = "\(problem): \(consequence)"
            return remedy.map { "\(text); \($0)" } ?? text
        }

        /// The severity, the identifier, the positions and the message.
        public var description: String {
            let place = positions.isEmpty ? "" : " at " + positions.map(String.init).joined(separator: ", ")
            return "\(severity) \(id)\(place): \(message)"
        }
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
            + credentialsWithoutHosts(elements, for: target) + conflicts(of: plugins)
            + transport.unsupportedSettings.map { setting in
                Finding(
                    id: setting.code.rawValue,
                    plugins: [transport.name],
                    positions: [],
                    problem: setting.problem,
                    consequence: "these requests fail with \(setting.code)",
                    remedy: setting.remedy,
                    severity: .fault
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
                plugins: [element.name],
                positions: [element.position].compactMap(\.self),
                problem: "\(element.name) is in a client of \(target) without named hosts",
                consequence: "its \(isCredential ? "credential goes" : "fields go") to every host that the client asks",
                remedy: "name the hosts, as in scope: .hosts([\"api.example.com\"])",
                severity: isLeak ? .leak : .hint
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
        let needsRemedy = rule.severity != .hint && rule.place != .without
        return Finding(
            id: rule.id,
            plugins: involved.map(\.name),
            positions: involved.compactMap(\.position),
            problem: "\(subject.name) is \(place(of: rule, subject, others))",
            consequence: rule.consequence,
            remedy: rule.remedy ?? (needsRemedy ? remedy(of: rule, subject, others) : nil),
            severity: rule.severity
        )
    }

    private static func place(of rule: OrderRule, _ subject: Element, _ others: [Element]) -> String {
        guard rule.place != .without else {
            return "in a stack without a plugin that " + rule.other.map(\.name).sorted().joined(separator: " or ")
        }
        let list = others.map(\.name).joined(separator: ", ")
        return list == subject.name ? "used twice" : "\(rule.place.rawValue) \(list)"
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
