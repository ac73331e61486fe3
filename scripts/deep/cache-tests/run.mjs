// Starts the server of the suite and the proxy, runs the client of the suite, and prints the results.
// usage: node run.mjs SUITE PROXY [--private] [--id ID] [--results FILE]
import { spawn } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { register } from 'node:module'
import { createInterface } from 'node:readline'
import { pathToFileURL } from 'node:url'
import { parseArgs } from 'node:util'
import { printResults } from './report.mjs'

const chunkSize = 30
const { values: options, positionals: [suite, proxy] } = parseArgs({
  allowPositionals: true,
  options: { private: { type: 'boolean' }, id: { type: 'string' }, results: { type: 'string' } }
})
const load = path => import(pathToFileURL(`${suite}/${path}`))
const children = []

// Starts a program and returns the first group of the pattern in its output.
function start (program, args, environment, pattern) {
  const child = spawn(program, args, { env: { ...process.env, ...environment }, stdio: ['ignore', 'pipe', 'inherit'] })
  children.push(child)
  return new Promise((resolve, reject) => {
    child.on('error', reject)
    child.on('exit', code => reject(new Error(`${program} exited with ${code}`)))
    createInterface(child.stdout).on('line', line => {
      const match = pattern.exec(line)
      if (match) resolve(match[1])
      if (options.id || line.startsWith('ERROR')) console.log(line)
    })
  })
}

// The server of the suite would listen on all interfaces. It takes its settings from variables of npm.
function startOrigin () {
  const loopback = `
    import net from 'node:net'
    const listen = net.Server.prototype.listen
    net.Server.prototype.listen = function (port) { return listen.call(this, { port, host: '127.0.0.1' }) }`
  const args = ['--import', `data:text/javascript,${encodeURIComponent(loopback)}`, `${suite}/test-engine/server/server.mjs`]
  const environment = { npm_config_protocol: 'http', npm_config_port: '0', npm_config_pidfile: '/dev/null' }
  return start(process.execPath, args, environment, /^Listening on (\S+)\/$/)
}

// The suite takes interim responses from undici, which is not part of Node.js.
function replaceUndici () {
  const hook = `export const resolve = (name, context, next) => name === 'undici'
    ? { url: ${JSON.stringify(new URL('undici.mjs', import.meta.url).href)}, shortCircuit: true } : next(name, context)`
  register(`data:text/javascript,${encodeURIComponent(hook)}`)
}

// Returns the tests to run in the form that the suite expects.
function select (suites) {
  if (!options.id) return suites
  const tests = suites.flatMap(group => group.tests).filter(test => test.id === options.id)
  if (tests.length === 0) throw new Error(`the suite has no test ${options.id}`)
  return [{ tests: tests.map(test => Object.assign(test, { dump: true })) }]
}

function readKnown () {
  const lines = readFileSync(new URL('known.txt', import.meta.url), 'utf8').split('\n')
  return new Map(lines.filter(line => /^[^#\s]/.test(line)).map(line => /^(\S+)\s*(.*)$/.exec(line).slice(1)))
}

async function run () {
  replaceUndici()
  const { default: suites } = await load('tests/index.mjs')
  const { runTests, getResults } = await load('test-engine/client/runner.mjs')
  const { determineTestResult, resultTypes } = await load('test-engine/lib/results.mjs')
  const origin = await startOrigin()
  const kind = options.private ? '--private' : '--cdn'
  const base = await start(proxy, ['--origin', origin, kind], {}, /listens on (\S+) /)
  const started = Date.now()
  // Requests that the tests leave open must not end the run.
  process.on('unhandledRejection', error => console.error(`ERROR: ${error}`))
  await runTests(select(suites), options.private === true, base, chunkSize)
  const results = getResults()
  if (options.results) writeFileSync(options.results, JSON.stringify(results, null, 2) + '\n')
  const outcome = id => {
    const type = determineTestResult(suites, id, results, !options.id)
    return Object.keys(resultTypes).find(name => resultTypes[name] === type)
  }
  const seconds = Math.round((Date.now() - started) / 1000)
  return printResults(suites.flatMap(group => group.tests), results, outcome, readKnown(), seconds)
}

process.on('exit', () => { for (const child of children) child.kill() })
for (const signal of ['SIGINT', 'SIGTERM']) process.on(signal, () => process.exit(1))
try {
  process.exit(await run() ? 0 : 1)
} catch (error) {
  console.error(`cache-tests: ${error.message}`)
  process.exit(1)
}
