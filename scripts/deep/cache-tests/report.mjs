// Prints totals and what did not pass.

const passed = new Set(['pass', 'yes'])
// What the outcomes of the suite mean; an outcome that is missing here is called by its name.
const words = {
  pass: 'passed',
  fail: 'failed',
  optional_fail: 'failed',
  yes: 'yes',
  no: 'no',
  setup_fail: 'not set up',
  harness_fail: 'timed out',
  dependency_fail: 'dependent',
  retry: 'retried'
}

function count (values) {
  const counts = new Map()
  for (const value of values) counts.set(value, (counts.get(value) ?? 0) + 1)
  return [...counts].map(([value, number]) => `${number} ${words[value] ?? value}`).join(', ')
}

function reason (test, result, outcome) {
  const text = result === true ? 'passed' : result.join(': ')
  return outcome === 'dependency_fail' ? `depends on ${test.depends_on.join(', ')}; ${text}` : text
}

// Returns whether all required tests passed, apart from known ones. A test that depends on one that failed decides nothing.
export function printResults (tests, results, outcome, known, seconds) {
  const rows = tests.filter(test => test.id in results)
    .map(test => ({ test, kind: test.kind ?? 'required', outcome: outcome(test.id) }))
  const unexpected = []
  for (const kind of ['required', 'optimal', 'check']) {
    const ofKind = rows.filter(row => row.kind === kind)
    console.log(`\n== ${kind}: ${ofKind.length} tests, ${count(ofKind.map(row => row.outcome))}`)
    for (const { test, outcome } of ofKind.filter(row => !passed.has(row.outcome))) {
      const note = known.has(test.id) ? ` [known: ${known.get(test.id)}]` : ''
      console.log(`${words[outcome] ?? outcome}  ${kind}  ${test.id}: ${reason(test, results[test.id], outcome)}${note}`)
      if (kind === 'required' && outcome !== 'dependency_fail' && !note) unexpected.push(test.id)
    }
  }
  for (const id of known.keys()) {
    if (results[id] === true) console.log(`\nknown.txt lists ${id}, which passes; remove it`)
  }
  console.log(`\n${rows.length} tests in ${seconds} s; required tests that fail unexpectedly: ${unexpected.join(' ') || 'none'}`)
  return rows.length > 0 && unexpected.length === 0
}
