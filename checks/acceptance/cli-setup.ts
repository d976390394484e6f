/** The command line as a client of a real platform with one agent, for the test files that use it. */
import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { join, resolve } from 'node:path'
import { after, before } from 'node:test'
import { type Loose, type Platform, startPlatform } from './platform.ts'
import { createAgent } from './steps.ts'

export const main = resolve(import.meta.dirname, '../../cli/src/main.ts')
export const agent = 'cli-agent'
export let platform: Platform
export let config: string

/** Starts a platform with the agent before the tests of a file, and stops it after them. */
export function setUpCli({ isSignedIn }: { isSignedIn: boolean }): void {
  before(async () => {
    platform = await startPlatform()
    config = join(platform.dataDir, 'cli.json')
    await createAgent(platform, agent)
    if (!isSignedIn) return
    const { key } = (await platform.request('POST', '/api/mcp/keys', { name: 'cli' })).json
    const { code, err } = await roost(['login', platform.url, '--with-key'], { input: key })
    assert.equal(code, 0, err)
  })
  after(() => platform?.[Symbol.asyncDispose]())
}

type Exit = { code: number | null; out: string; err: string }
type Run = { input?: string; env?: Record<string, string> }

/** Runs a command without a terminal, as a script does. */
export async function roost(args: string[], { input = '', env = {} }: Run = {}): Promise<Exit> {
  const child = spawn(process.execPath, [main, ...args], { env: environment(env) })
  let [out, err] = ['', '']
  child.stdout.on('data', (chunk) => (out += chunk))
  child.stderr.on('data', (chunk) => (err += chunk))
  child.stdin.end(input)
  const code = await new Promise<number | null>((done) => child.once('close', done))
  return { code, out, err }
}

export async function ok(...args: string[]): Promise<string> {
  const { code, out, err } = await roost(args)
  assert.equal(code, 0, `${args.join(' ')}: ${err}`)
  return out
}
export const json = async (...args: string[]): Promise<Loose> => JSON.parse(await ok(...args, '--json'))

/** Commands that were run in a terminal. */
export const testedCommands = new Set<string>()

/** Runs a command in a pseudo-terminal. Each step types its text after the pattern was printed. */
export async function terminal(
  args: string[],
  steps: [pattern: RegExp, typed: string][] = [],
  env: Record<string, string> = {},
): Promise<Exit> {
  testedCommands.add(args[0] ?? '')
  const words = [process.execPath, main, ...args].map((word) => `'${word.replaceAll("'", `'\\''`)}'`)
  const child = spawn('script', ['-qefc', words.join(' '), '/dev/null'], {
    env: environment({ TERM: 'dumb', ...env }),
  })
  let out = ''
  const remaining = [...steps]
  child.stdout.on('data', (chunk) => {
    out += chunk
    const [next] = remaining
    if (next?.[0].test(out)) {
      remaining.shift()
      child.stdin.write(next[1])
    }
  })
  const code = await new Promise<number | null>((done) => child.once('close', done))
  assert.deepEqual(remaining, [], `not seen in:\n${out}`)
  return { code, out, err: '' }
}

export function environment(more: Record<string, string>): NodeJS.ProcessEnv {
  return { PATH: process.env.PATH, HOME: platform.dataDir, ROOST_CONFIG: config, NO_COLOR: '1', ...more }
}
