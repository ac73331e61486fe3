extension PipelineDescription {
    /// A match of a rule.
    public struct Finding: Sendable, Hashable {
        /// The identifier of the ``OrderRule``.
        public let id: String
        /// The names of the plugins involved, the subject of the rule first.
        public let plugins: [String]
        /// What is wrong, what follows, and what to do.
        public let message: String
        /// What to do; `nil` for most notes.
        public let remedy: String?
        let severity: OrderRule.Severity
    }

    /// What stands at one place of a stack, as far as rules are concerned.
    private struct Element {
        let name: String
        let capabilities: Set<PluginCapability>
    }

    /// All matches, the subjects from the outermost inwards.
    static func findings(of plugins: [any PluginType], _ transport: any Transport) -> [Finding] {
        var rules = OrderRule.standard
        for case let plugin as any CapabilityDeclaring in plugins {
            rules += plugin.orderRules.filter { !rules.contains($0) }
        }
        var elements = effectiveOrder(plugins)
        elements.append(
            Element(name: transport.name, capabilities: transport.decodesContent ? [.decodesContent] : [])
        )
        return elements.indices.flatMap { index in rules.compactMap { finding($0, at: index, in: elements) } }
    }

    /// The call level and, inside it, the hop level, to which the capabilities of an exchange plugin belong; but it identifies a call at
    /// the call level.
    private static func effectiveOrder(_ plugins: [any PluginType]) -> [Element] {
        var hops: [Element] = []
        var calls: [Element] = []
        for plugin in plugins {
            let declared = (plugin as? any CapabilityDeclaring)?.capabilities ?? []
            let isOnHop = plugin is any Stage.Exchange
            let early = isOnHop ? declared.intersection([.identifiesCalls]) : declared
            if isOnHop {
                let identity: Set<PluginCapability> = early.isEmpty ? [] : [.hasIdentity]
                hops.append(Element(name: plugin.name, capabilities: declared.subtracting(early).union(identity)))
            }
            let capabilities = derivedCapabilities(of: plugin).union(early)
            calls.append(Element(name: plugin.name, capabilities: capabilities))
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
        func isOther(_ element: Element) -> Bool {
            !rule.other.isDisjoint(with: element.capabilities) && rule.exempt.isDisjoint(with: element.capabilities)
        }
        switch rule.place {
        case .inside: return finding(rule, subject.name, elements[..<index].filter(isOther).map(\.name))
        case .outside: return finding(rule, subject.name, elements[(index + 1)...].filter(isOther).map(\.name))
        case .without:
            guard !elements.contains(where: isOther) else { return nil }
            let missing = rule.other.map(\.name).sorted().joined(separator: " or ")
            let text = "\(subject.name) is in a stack without a plugin that \(missing): \(rule.consequence)"
            return Finding(rule, [subject.name], text, rule.remedy)
        }
    }

    private static func finding(_ rule: OrderRule, _ subject: String, _ others: [String]) -> Finding? {
        guard !others.isEmpty else { return nil }
        let list = others.joined(separator: ", ")
        let otherSide = rule.place == .inside ? "outside" : "inside"
        let move = rule.severity == .note ? nil : "move \(subject) \(otherSide) \(list)"
        let place = others == [subject] ? "used twice" : "\(rule.place.rawValue) \(list)"
        return Finding(
            rule,
            [subject] + others,
            "\(subject) is \(place): \(rule.consequence)",
            rule.remedy ?? move
        )
    }
}

extension PipelineDescription.Finding {
    fileprivate init(_ rule: OrderRule, _ plugins: [String], _ text: String, _ remedy: String?) {
        id = rule.id
        self.plugins = plugins
        message = remedy.map { "\(text); \($0)" } ?? text
        self.remedy = remedy
        severity = rule.severity
    }
}
