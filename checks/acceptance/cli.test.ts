/** The command line as a client: every command in its own terminal, against a real platform. */
import assert from 'node:assert/strict'
import { execFile, spawn } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { chmod, cp, mkdir, mkdtemp, readFile, stat, symlink, writeFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join, resolve } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { promisify, stripVTControlCharacters } from 'node:util'
import { hasProgram } from '../../cli/src/machine/run.ts'
import { buildClient } from '../../client/build.ts'
import { adminPassword, eventually, type Loose, type Platform, startPlatform } from './platform.ts'
import { createAgent } from './steps.ts'

/** Commands for the platform's machine; each has a test in the CLI package or here. */
const machineCommands =
  'up doctor images backup restore upgrade rollback database rotate-key regain-admin test release model'.split(
    ' ',
  )
const main = resolve(import.meta.dirname, '../../cli/src/main.ts')
const agent = 'cli-agent'
let platform: Platform
let config: string
before(async () => {
  platform = await startPlatform()
  config = join(platform.dataDir, 'cli.json')
  await createAgent(platform, agent)
})
after(() => platform?.[Symbol.asyncDispose]())

type Exit = { code: number | null; out: string; err: string }
type Run = { input?: string; env?: Record<string, string> }

/** Runs a command without a terminal, as a script does. */
async function roost(args: string[], { input = '', env = {} }: Run = {}): Promise<Exit> {
  const child = spawn(process.execPath, [main, ...args], { env: environment(env) })
  let [out, err] = ['', '']
  child.stdout.on('data', (chunk) => (out += chunk))
  child.stderr.on('data', (chunk) => (err += chunk))
  child.stdin.end(input)
  const code = await new Promise<number | null>((done) => child.once('close', done))
  return { code, out, err }
}

async function ok(...args: string[]): Promise<string> {
  const { code, out, err } = await roost(args)
  assert.equal(code, 0, `${args.join(' ')}: ${err}`)
  return out
}
const json = async (...args: string[]): Promise<Loose> => JSON.parse(await ok(...args, '--json'))

/** How each shell starts without the user's settings. */
const shells = { bash: 'bash --norc -i', zsh: 'zsh -f -i', fish: 'fish --no-config -i' }

/** Types each line and a Tab in a terminal of the shell; returns the lines as the shell completed them. */
async function completed(
  command: string,
  script: string,
  lines: readonly string[],
  { env, cwd }: { env: NodeJS.ProcessEnv; cwd: string },
): Promise<string[]> {
  const child = spawn('script', ['-qefc', command, '/dev/null'], { env, cwd })
  let out = ''
  const isPrinted = new Map<RegExp, () => void>()
  child.stdout.on('data', (chunk) => {
    out += stripVTControlCharacters(String(chunk))
    for (const [pattern, resolve] of isPrinted) if (pattern.test(out)) resolve()
  })
  const printed = (pattern: RegExp) =>
    new Promise<void>((resolve, reject) => {
      const timer = setTimeout(() => reject(new Error(`${pattern} not seen in:\n${out}`)), 120_000)
      isPrinted.set(pattern, () => {
        clearTimeout(timer)
        resolve()
      })
    })
  try {
    const ready = printed(/[\r\n]READY/)
    child.stdin.write(`source '${script}'; echo REA""DY\r`)
    await ready
    const results: string[] = []
    for (const [index, line] of lines.entries()) {
      const mark = new RegExp(`[\\r\\n]LINE${index}=([^\\r\\n]*)[\\r\\n]`)
      const seen = printed(mark)
      // Ctrl-A, so that the completed line is printed instead of run.
      child.stdin.write(`${line}\t\u0001echo LINE${index}= \r`)
      await seen
      results.push(mark.exec(out)?.[1]?.trim() ?? '')
    }
    return results
  } finally {
    child.stdin.end('\u0004')
    child.kill()
  }
}

/** Commands that were run in a terminal. */
const testedCommands = new Set<string>()

/** Runs a command in a pseudo-terminal. Each step types its text after the pattern was printed. */
async function terminal(
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

function environment(more: Record<string, string>): NodeJS.ProcessEnv {
  return { PATH: process.env.PATH, HOME: platform.dataDir, ROOST_CONFIG: config, NO_COLOR: '1', ...more }
}

describe('login', () => {
  test('exit code 3 before login', async () => {
    const { code, err } = await roost(['agents'])
    assert.equal(code, 3)
    assert.match(err, /roost login/)
  })

  test('hides the password, and stores a key instead of it, readable only by this user', async () => {
    const wrong = await roost(['login', platform.url], { input: 'wrong password\n' })
    assert.equal(wrong.code, 3)
    const { code, out } = await terminal(
      ['login', platform.url],
      [[/Password for admin:/, `${adminPassword}\r`]],
    )
    assert.equal(code, 0, out)
    assert.ok(!out.includes(adminPassword), 'the password was shown')
    const stored = await readFile(config, 'utf8')
    assert.ok(!stored.includes(adminPassword))
    assert.equal((await stat(config)).mode & 0o777, 0o600)
  })

  test('several platforms, one of them current', async () => {
    const key = (await platform.request('POST', '/api/mcp/keys', { name: 'second' })).json.key
    assert.equal(
      (await roost(['login', platform.url, '--name', 'two', '--with-key'], { input: key })).code,
      0,
    )
    assert.match(await ok('servers'), /\* two/)
    await ok('servers', 'use', 'default')
    assert.match(await ok('servers'), /\* default/)
    assert.match(await ok('agents', '--server', 'two'), new RegExp(agent))
    assert.equal((await roost(['agents', '--server', 'three'])).code, 3)
  })

  test('exit code 2 for an invalid address, 3 for a platform without a login, and no fallback to another', async () => {
    const key = { ROOST_KEY: 'svc_mcp_x' }
    const wrong = await roost(['agents'], { env: { ...key, ROOST_URL: 'http://[' } })
    assert.deepEqual([wrong.code, wrong.out], [2, ''])
    assert.match(wrong.err, /^roost agents: "http:\/\/\[" is not a valid http or https address/)
    const other = await roost(['agents'], { env: { ROOST_URL: 'https://other.example' } })
    assert.equal(other.code, 3)
    assert.match(other.err, /Not signed in to https:\/\/other\.example/)
    assert.equal((await roost(['agents'], { env: { ROOST_URL: `${platform.url}/` } })).code, 0)
  })

  test('exit code 5 for an unreachable platform', async () => {
    const env = { ROOST_URL: 'http://127.0.0.1:9', ROOST_KEY: 'x' }
    assert.equal((await roost(['agents'], { env })).code, 5)
  })
})

describe('agents and runs', () => {
  test('--json prints errors as an object on the error output', async () => {
    const unknown = await roost(['agents', 'show', 'nobody', '--json'])
    assert.deepEqual([unknown.code, unknown.out], [4, ''])
    assert.deepEqual(JSON.parse(unknown.err), {
      error: 'agent_not_found',
      message: 'There is no agent named "nobody".',
    })
    const refused = await terminal(['agents', 'delete', 'nobody'], [])
    assert.equal(refused.code, 4)
    assert.ok(!refused.out.includes('[y/N]'))
  })

  test('agents networks: opens and closes private addresses; the platform names an invalid one', async () => {
    assert.match(await ok('agents', 'networks'), /except:\s+none/)
    const opened = await ok('agents', 'networks', '--open', '10.0.0.5:443,10.1.0.0/16')
    assert.match(opened, /except:\s+10\.0\.0\.5:443 10\.1\.0\.0\/16/)
    assert.match(await ok('agents', 'networks', '--close', '10.0.0.5:443'), /except:\s+10\.1\.0\.0\/16/)
    const wrong = await roost(['agents', 'networks', '--open', 'example.com'])
    assert.match(wrong.err, /must be an address or a network/)
    assert.match((await roost(['agents', 'networks', '--close', '10.9.9.9'])).err, /not in the list/)
  })

  test('agents: list, show, create, stop, start, rename, delete; 4 for an unknown one', async () => {
    assert.equal((await json('agents')).filter(({ name }: Loose) => name === agent).length, 1)
    assert.match(await ok('agents', 'show', agent), /status:\s+running/)
    await ok('agents', 'create', 'cli-other', '--memory', '2g')
    await ok('agents', 'stop', 'cli-other')
    await ok('agents', 'start', 'cli-other')
    await ok('agents', 'rename', 'cli-other', 'cli-renamed')
    const unconfirmed = await roost(['agents', 'delete', 'cli-renamed'])
    assert.equal(unconfirmed.code, 2)
    assert.match(unconfirmed.err, /--yes/)
    await ok('agents', 'show', 'cli-renamed')
    await ok('agents', 'delete', 'cli-renamed', '--yes')
    const unknown = await roost(['agents', 'show', 'cli-renamed'])
    assert.equal(unknown.code, 4)
    assert.match(unknown.err, /agent_not_found/)
  })

  test('chat prints the answer while it streams, once', async () => {
    assert.equal(
      await ok('chat', agent, 'Say it. [[reply:a long **answer** indeed]] [[drip:20]]'),
      'a long **answer** indeed\n',
    )
    assert.equal((await roost(['chat', agent], { input: 'From a pipe. [[reply:piped]]' })).out, 'piped\n')
    const lines = (await ok('chat', agent, '--json', '[[reply:x]]')).trim().split('\n')
    assert.equal(JSON.parse(lines.at(-1) ?? '').type, 'done')
  })

  test('a conversation in a terminal, ended by Ctrl-D', async () => {
    const { code, out } = await terminal(
      ['chat', agent, '--new'],
      [
        [/cli-agent> $/, 'one [[reply:first answer]]\r'],
        [/first answer\r?\n[\s\S]*cli-agent> $/, 'two [[reply:second answer]]\r'],
        [/second answer\r?\n[\s\S]*cli-agent> $/, '\u0004'],
      ],
    )
    assert.equal(code, 0, out)
  })

  test('Ctrl-C during an answer exits with 130 and cancels the run', async () => {
    const { code } = await terminal(
      ['chat', agent, '[[tool:Bash:sleep 60]] [[reply:never]]'],
      [[/· Bash/, '\u0003']],
    )
    assert.equal(code, 130)
    const [newest] = await json('runs', agent, '--limit', '1')
    assert.equal(newest.status, 'cancelled')
  })

  test('task waits for the end and returns it as exit code; --async does not wait', async () => {
    assert.equal(await ok('task', agent, '[[reply:done]]'), 'done\n')
    const failed = await roost(['task', agent, '[[fail]]'])
    assert.equal(failed.code, 1)
    assert.match(failed.err, /agent_error/)
    const id = (await ok('task', agent, '[[reply:later]]', '--async')).trim()
    assert.equal((await roost(['runs', 'log', agent, id, '-f'])).out, 'later\n')
    assert.match(await ok('runs', 'show', agent, id), /later/)
    assert.match(await ok('runs'), new RegExp(id))
    assert.match(await ok('runs', 'stop', agent, id), /already_finished/)
  })

  test('runs are found by id alone, by the start of it, and under the earlier name of the command', async () => {
    const id = (await ok('task', agent, '[[reply:found]]', '--async')).trim()
    assert.equal((await roost(['runs', 'log', id, '-f'])).out, 'found\n')
    for (const args of [[id], [id.slice(0, 12)], [agent, id]]) {
      const shown = await json('runs', 'show', ...args)
      assert.deepEqual([shown.id, shown.agent_name, shown.response], [id, agent, 'found'])
    }
    assert.match(await ok('executions', 'show', agent, id), /found/)
    assert.match(await ok('runs', 'stop', id), /already_finished/)
    for (const missing of ['no-such-run-anywhere', '%%%%']) {
      const { code, err } = await roost(['runs', 'show', missing])
      assert.deepEqual([code, /There is no run/.test(err)], [4, true], err)
    }
    const short = await roost(['runs', 'show', id.slice(0, 3)])
    assert.deepEqual([short.code, /at least 4 characters/.test(short.err)], [2, true], short.err)
  })

  test('the log of a run is a transcript; --raw and --json have the stored lines', async () => {
    const prompt = '[[tool:Bash:seq 1 40]] [[reply:All **counted**.]]'
    const id = JSON.parse(await ok('task', agent, prompt, '--async', '--json')).execution_id
    await roost(['runs', 'log', id, '-f'])
    const text = await ok('runs', 'log', id)
    assert.match(text, /^> \[\[tool:Bash:seq 1 40\]\]/)
    assert.match(text, /· Bash seq 1 40 +\d\d:\d\d:\d\d/)
    assert.match(text, /^ {2}1\n {2}2\n[\s\S]* {2}… 30 more lines \(--full shows all\)$/m)
    assert.match(text, /^All \*\*counted\*\*\.$/m)
    assert.match(text, /^success \(\d turns?, [\d.]+ s/m)
    assert.doesNotMatch(text, /"type"|\u001b/)
    assert.match(await ok('runs', 'log', id, '--full'), /^ {2}40$/m)
    const raw = (await ok('runs', 'log', id, '--raw')).trim().split('\n')
    assert.deepEqual(
      raw.map((line) => JSON.parse(line)),
      (await ok('runs', 'log', id, '--json'))
        .trim()
        .split('\n')
        .map((line) => JSON.parse(line)),
    )
    assert.equal(JSON.parse(raw.at(-1) ?? '').type, 'result')
    const { out } = await terminal(['runs', 'log', id], [], { TERM: 'xterm', NO_COLOR: '' })
    assert.match(out, /\u001b\[32m✓ success\u001b\[39m/)
  })

  test('colour and symbols on a terminal only, never with NO_COLOR or --json', async () => {
    const color = { TERM: 'xterm-256color', NO_COLOR: '' }
    const shown = await terminal(['agents'], [], color)
    assert.match(shown.out, /\u001b\[32m● running *\u001b\[39m/)
    assert.match(shown.out, /\u001b\[1mNAME +STATUS/)
    const plain = [
      await terminal(['agents'], [], { ...color, NO_COLOR: '1' }),
      await terminal(['agents', '--color=never'], [], color),
      await terminal(['agents'], [], { ...color, TERM: 'dumb' }),
      await terminal(['agents', '--json', '--color=always'], [], color),
      await roost(['agents'], { env: { NO_COLOR: '' } }),
      await roost(['agents', '--json'], { env: { NO_COLOR: '', FORCE_COLOR: '1' } }),
    ]
    for (const { out } of plain) {
      assert.match(out, new RegExp(agent))
      assert.doesNotMatch(out, /\u001b\[\d+m|[●✓]/)
    }
    const forced: Record<string, string>[] = [
      { NO_COLOR: '', FORCE_COLOR: '1' },
      { NO_COLOR: '' },
      { NO_COLOR: '1' },
    ]
    for (const env of forced) {
      const args = 'FORCE_COLOR' in env ? ['agents'] : ['agents', '--color']
      assert.match((await roost(args, { env })).out, /● running/, JSON.stringify(env))
    }
    assert.match((await roost(['--color=sometimes', 'agents'])).err, /--color must be auto, always or never/)
  })

  test('a spinner shows what is awaited on a terminal, and leaves no trace', async () => {
    const color = { TERM: 'xterm', NO_COLOR: '1' }
    const task = ['task', agent, '[[tool:Bash:sleep 2]] [[reply:slept]]']
    const { code, out } = await terminal(task, [], color)
    assert.equal(code, 0, out)
    assert.match(out, /\r\u001b\[K[⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏] Running Bash/)
    assert.match(out, /\r\u001b\[Kslept\r?\n$/)
    assert.doesNotMatch((await terminal(task, [], { TERM: 'dumb' })).out, /Running Bash/)
  })

  test('a mistyped agent, command, subcommand or option gets the nearest name', async () => {
    const cases: [string[], RegExp][] = [
      [['agents', 'show', 'cli-agnet'], /There is no agent named "cli-agnet"\. Did you mean cli-agent\?/],
      [['agnets'], /Unknown command "agnets"\. Did you mean agents\?/],
      [['agents', 'lits'], /Unknown subcommand "lits"\. Did you mean list\?/],
      [['agents', 'list', '--jsno'], /Unknown option --jsno\. Did you mean --json\?/],
      [['help', 'exectuions'], /Did you mean executions\?/],
    ]
    for (const [args, expected] of cases) assert.match((await roost(args)).err, expected)
    assert.doesNotMatch((await roost(['agents', 'show', 'nothing-like-it'])).err, /Did you mean/)
  })

  test('open prints the address where no browser is, and starts the browser that is named', async () => {
    const id = (await ok('task', agent, '[[reply:opened]]', '--async')).trim()
    const pages: [string[], string][] = [
      [[], '/'],
      [[agent], `/agents/${agent}`],
      [[agent, '--tab', 'files'], `/agents/${agent}?tab=files`],
      [[id], `/agents/${agent}/executions/${id}`],
    ]
    for (const [args, path] of pages) {
      const { out } = await terminal(['open', ...args])
      assert.equal(out.trim(), platform.url + path)
    }
    const folder = await mkdtemp(join(platform.dataDir, 'browser-'))
    const browser = join(folder, 'browser')
    await writeFile(
      browser,
      `#!/bin/sh\nprintf %s "$*" > "${folder}/seen.new" && mv "${folder}/seen.new" "${folder}/seen"\n`,
    )
    await chmod(browser, 0o755)
    const { out } = await roost(['open', agent], { env: { BROWSER: browser } })
    assert.equal(out, `Opened ${platform.url}/agents/${agent}\n`)
    const seen = () => readFile(join(folder, 'seen'), 'utf8').catch(() => '')
    assert.equal(await eventually(seen, (text) => text !== ''), `${platform.url}/agents/${agent}`)
    assert.equal((await roost(['open', 'cli-agnet'])).code, 4)
    assert.equal((await roost(['open', '--tab', 'files'])).code, 2)
  })

  test('logs, also with -f', async () => {
    assert.match(await ok('logs', agent), /link up/)
    const { code } = await terminal(['logs', agent, '-f'], [[/link up/, '\u0003']])
    assert.equal(code, 130)
  })

  test('events tail prints live events', async () => {
    const kind = ['--agent', agent, '--type', 'execution_finished']
    const [limited, stopped] = [
      roost(['events', 'tail', ...kind, '--limit', '1']),
      terminal(['events', 'tail', ...kind], [[/execution_finished/, '\u0003']]),
    ]
    let isOver = false
    void Promise.all([limited, stopped]).then(() => (isOver = true))
    while (!isOver) await roost(['task', agent, '[[reply:x]]'])
    const { code, out } = await limited
    assert.equal(code, 0)
    assert.match(out, /execution_finished\s+cli-agent/)
    assert.equal((await stopped).code, 130)
  })
})

describe('files of an agent', () => {
  let folder: string
  before(async () => (folder = await mkdtemp(join(platform.dataDir, 'copies-'))))
  const at = (...names: string[]) => join(folder, ...names)
  const remote = (path: string) => `${agent}:${path}`

  test('cp copies files of any content in both directions, with the execute permission', async () => {
    const bytes = randomBytes(3_000_001)
    await writeFile(at('data é.bin'), bytes)
    await writeFile(at('empty'), '')
    await writeFile(at('run.sh'), '#!/bin/sh\necho ran\n', { mode: 0o755 })
    const out = await ok('cp', at('data é.bin'), at('empty'), at('run.sh'), remote('box/'))
    assert.match(out, /^Copied 3 files \(2\.9 MB\)$/m)
    await ok('cp', remote('box/data é.bin'), at('back.bin'))
    assert.ok((await readFile(at('back.bin'))).equals(bytes))
    await mkdir(at('into'))
    await ok('cp', remote('box/data é.bin'), remote('box/empty'), at('into'))
    assert.ok((await readFile(at('into', 'data é.bin'))).equals(bytes))
    assert.equal((await stat(at('into', 'empty'))).size, 0)
    assert.match(await ok('ssh', agent, 'box/run.sh'), /^ran$/m)
  })

  test('cp copies folders with everything in them, and their content alone with "/."', async () => {
    await mkdir(at('site', 'deep', ...Array.from({ length: 12 }, (_, level) => `l${level}`)), {
      recursive: true,
    })
    const deepest = join('deep', ...Array.from({ length: 12 }, (_, level) => `l${level}`), 'leaf')
    await writeFile(at('site', deepest), 'leaf')
    await writeFile(at('site', '.hidden'), 'hidden')
    await mkdir(at('site', 'nothing'))
    await ok('cp', '-r', at('site'), remote('web'))
    await ok('cp', at('site'), remote('web'))
    await ok('cp', `${at('site')}/.`, remote('content/'))
    const copied = await json('cp', remote('web'), at('web'))
    assert.deepEqual([copied.copied.length, copied.failed], [4, []])
    assert.equal(await readFile(at('web', deepest), 'utf8'), 'leaf')
    assert.equal(await readFile(at('web', 'site', '.hidden'), 'utf8'), 'hidden')
    assert.ok((await stat(at('web', 'nothing'))).isDirectory())
    await ok('cp', remote('content/.'), at('content'))
    assert.equal(await readFile(at('content', '.hidden'), 'utf8'), 'hidden')
  })

  test('cp reads standard input and prints to standard output', async () => {
    assert.equal((await roost(['cp', '-', remote('from-pipe.txt')], { input: 'piped ü' })).code, 0)
    assert.equal(await ok('cp', remote('from-pipe.txt'), '-'), 'piped ü')
  })

  test('cp names each file that fails, copies the others, and exits with 1', async () => {
    await mkdir(at('mixed', 'inner'), { recursive: true })
    await writeFile(at('mixed', 'good.txt'), 'good')
    await symlink('..', at('mixed', 'inner', 'loop'))
    await symlink('nowhere', at('mixed', 'broken'))
    const up = await roost(['cp', at('mixed'), at('absent'), remote('mixed/')])
    assert.equal(up.code, 1)
    assert.match(up.out, /^Copied 1 file \(4 bytes\), 3 failed$/m)
    assert.match(up.err, /inner\/loop: is a link to a folder/)
    assert.match(up.err, /broken: does not exist/)
    assert.match(up.err, /absent: does not exist/)
    const guarded = await roost(['cp', at('mixed', 'good.txt'), remote('.git/config')])
    assert.deepEqual([guarded.code, /".git\/config" is protected/.test(guarded.err)], [1, true], guarded.err)
    await ok('ssh', agent, 'ln -s /etc/passwd mixed/outside')
    const down = await roost(['cp', remote('mixed'), remote('absent'), at('down'), '--json'])
    assert.equal(down.code, 1)
    const { copied, failed } = JSON.parse(down.out)
    assert.deepEqual(
      copied.map(({ from }: Loose) => from),
      [remote('mixed/mixed/good.txt')],
    )
    assert.deepEqual(failed.map(({ path }: Loose) => path).toSorted(), [
      remote('absent'),
      remote('mixed/outside'),
    ])
  })

  test('cp refuses unclear directions and unknown agents', async () => {
    for (const args of [['a', 'b'], [remote('a'), remote('b')], ['a', remote('b'), 'c'], ['a']])
      assert.equal((await roost(['cp', ...args])).code, 2, args.join(' '))
    const unknown = await roost(['cp', 'nobody:a', at('a')])
    assert.deepEqual([unknown.code, /no agent named "nobody"/.test(unknown.err)], [4, true], unknown.err)
  })

  test('ssh checks the host key, passes options and the exit code on, and opens a shell', async () => {
    assert.equal((await roost(['ssh', agent, 'sh', '-c', '"exit 7"'])).code, 7)
    assert.equal((await roost(['ssh', agent, 'cat'], { input: 'over ssh' })).out, 'over ssh')
    const shell = await terminal(['ssh', agent], [[/developer@.*\$ $/, 'whoami; exit 3\r']])
    assert.deepEqual([shell.code, /developer\r\n/.test(shell.out)], [3, true], shell.out)
    assert.equal((await roost(['ssh', 'nobody', 'true'])).code, 4)
  })

  test('ssh refuses a server with another host key', async () => {
    const { json: granted } = await platform.request('POST', `/api/agents/${agent}/ssh-access`, {})
    assert.match(granted.host_keys[0], /^ssh-ed25519 \S+$/)
    const other = createServer(async (request, response) => {
      const chunks = await request.toArray()
      const { status, text } = await platform.request(
        request.method ?? '',
        request.url ?? '',
        Buffer.concat(chunks).toString() || undefined,
      )
      // Another valid key: one byte at the end differs.
      const key = granted.host_keys[0]
      const changed = `${key.slice(0, -4)}${key.endsWith('AAAA') ? 'BBBB' : 'AAAA'}`
      response.writeHead(status, { 'content-type': 'application/json' })
      response.end(text.replace(key, changed))
    })
    await once(other.listen(0, '127.0.0.1'), 'listening')
    try {
      const { port } = other.address() as AddressInfo
      const env = { ROOST_URL: `http://127.0.0.1:${port}`, ROOST_KEY: 'svc_mcp_x' }
      const { code, out, err } = await roost(['ssh', agent, 'echo', 'connected'], { env })
      assert.deepEqual([code, out], [255, ''])
      assert.match(err, /Host key verification failed/)
    } finally {
      other.closeAllConnections()
      other.close()
    }
  })
})

describe('schedules and loops', () => {
  test('schedules: create, list, show, disable, enable, trigger, runs, delete', async () => {
    const created = await json(
      'schedules',
      'create',
      agent,
      'Morning',
      '0 9 * * MON',
      'Good',
      'morning',
      '--timezone',
      'Europe/Berlin',
    )
    assert.equal(created.message, 'Good morning')
    assert.match(await ok('schedules', agent), /0 9 \* \* MON\s+Europe\/Berlin/)
    assert.match(await ok('schedules', 'show', agent, created.id), /Good morning/)
    assert.match(await ok('schedules', 'disable', agent, created.id), /disabled/)
    assert.match(await ok('schedules', 'enable', agent, created.id), /enabled/)
    const id = (await ok('schedules', 'trigger', agent, created.id)).trim()
    assert.match(await ok('schedules', 'runs', agent, created.id), new RegExp(id))
    await ok('schedules', 'delete', agent, created.id)
    const bad = await roost(['schedules', 'create', agent, 'Bad', 'every day', 'x'])
    assert.equal(bad.code, 1)
    assert.match(bad.err, /invalid_cron_expression/)
  })

  test('loops: start, show, list, stop', async () => {
    const id = (await ok('loops', 'start', agent, 'Round {{run}} [[reply:same]]', '--runs', '2')).trim()
    assert.match(await ok('loops', agent), new RegExp(id))
    assert.match(await ok('loops', 'show', id), /agent:\s+cli-agent/)
    assert.match(await ok('loops', 'stop', id), /stopping|already_done/)
  })
})

describe('skills', () => {
  test('the library, and assigning and unassigning a skill', async () => {
    const [first] = await json('skills')
    assert.match(await ok('skills', 'show', first.name), /\w/)
    assert.match(await ok('skills', 'assign', agent, first.name), /injected|in_progress/)
    assert.match(await ok('skills', agent), new RegExp(first.name))
    await ok('skills', 'unassign', agent, first.name)
    assert.deepEqual(await json('skills', agent), [])
  })
})

describe('keys and other clients', () => {
  test('keys: create, list, revoke, delete', async () => {
    const created = await json('keys', 'create', 'from the cli')
    assert.match(created.key, /^svc_mcp_/)
    const listed = await ok('keys')
    assert.match(listed, /from the cli/)
    assert.ok(!listed.includes(created.key))
    await ok('keys', 'revoke', created.id)
    await ok('keys', 'delete', created.id)
  })

  test('the snippet for each MCP client, with the key only on request', async () => {
    for (const client of [
      'claude-code',
      'claude-desktop',
      'cursor',
      'vscode',
      'windsurf',
      'gemini',
      'codex',
    ]) {
      const text = await ok('mcp-config', client)
      assert.match(text, new RegExp(`${platform.url}/mcp`))
      assert.ok(!text.includes('svc_mcp_'))
    }
    assert.match(await ok('mcp-config', 'cursor', '--show-key'), /Bearer svc_mcp_/)
    assert.equal((await roost(['mcp-config', 'nothing'])).code, 2)
  })

  test('a command for the whole fleet asks for confirmation; Enter means no', async () => {
    const no = await terminal(['fleet', 'restart', '--prefix', agent], [[/\[y\/N\] $/, '\r']])
    assert.equal(no.code, 1, no.out)
    const yes = await terminal(['fleet', 'restart', '--prefix', agent], [[/\[y\/N\] $/, 'y\r']])
    assert.deepEqual([yes.code, /1 of 1 done, 0 failed/.test(yes.out)], [0, true], yes.out)
  })

  test('notifications of agents are listed and acknowledged', async () => {
    const notification = { agent_name: agent, notification_type: 'info', title: 'The mails are read' }
    assert.equal((await platform.request('POST', '/api/notifications', notification)).status, 201)
    const { out } = await terminal(['notifications', 'list', agent])
    assert.match(out, /The mails are read/)
    const [{ id }] = (await json('notifications')).notifications
    assert.match((await terminal(['notifications', 'acknowledge', id])).out, /acknowledged/)
  })

  test('every command for platforms works in a terminal', async () => {
    const words = [
      ...['agents', 'runs', 'skills', 'reports', 'keys', 'prices', 'replicas', 'servers', 'version'],
      ...[
        'fleet status',
        'fleet health',
        'mcp-config cursor',
        'completion zsh',
        `cp ${agent}:from-pipe.txt -`,
        `ssh ${agent} true`,
        'open',
      ],
      ...[`schedules ${agent}`, `shares ${agent}`, `loops ${agent}`, `task ${agent} [[reply:fine]]`],
    ]
    for (const line of words) {
      const { code, out } = await terminal(line.split(' '))
      assert.equal(code, 0, `${line}: ${out}`)
    }
    const listed = [...(await ok('help')).matchAll(/^ {2}roost ([\w-]+)/gm)].map(([, name = '']) => name)
    const untested = listed.filter((name) => !testedCommands.has(name) && !machineCommands.includes(name))
    assert.deepEqual(untested, ['logout'], 'logout is tested last')
  })

  test('bash completion knows commands and their verbs', async () => {
    const script = `${await ok('completion', 'bash')}
      COMP_WORDS=(roost sched) COMP_CWORD=1; _roost; echo "\${COMPREPLY[@]}"
      COMP_WORDS=(roost schedules tr) COMP_CWORD=2; _roost; echo "\${COMPREPLY[@]}"`
    const shell = spawn('bash', ['-c', script])
    let out = ''
    shell.stdout.on('data', (chunk) => (out += chunk))
    await new Promise((done) => shell.once('close', done))
    assert.equal(out, 'schedules\ntrigger\n')
    assert.match(await ok('completion', 'zsh'), /compdef _roost roost/)
  })

  test('each shell completes commands, options and the names of agents', async (t) => {
    const folder = await mkdtemp(join(platform.dataDir, 'shells-'))
    await writeFile(join(folder, 'roost'), `#!/bin/sh\nexec '${process.execPath}' '${main}' "$@"\n`)
    await chmod(join(folder, 'roost'), 0o755)
    const env = environment({
      PATH: `${folder}:${process.env.PATH}`,
      XDG_CACHE_HOME: join(folder, 'cache'),
      TERM: 'xterm',
    })
    const cases = {
      'roost sched': 'roost schedules',
      'roost schedules tr': 'roost schedules trigger',
      'roost chat cli-': `roost chat ${agent}`,
      'roost agents stop cli-': `roost agents stop ${agent}`,
      'roost runs list cli-': `roost runs list ${agent}`,
      'roost runs log --fu': 'roost runs log --full',
      'roost cp cli-': `roost cp ${agent}:`,
      'roost completion fi': 'roost completion fish',
    }
    for (const [shell, command] of Object.entries(shells)) {
      await t.test(shell, async (t) => {
        if (!(await hasProgram(shell))) return t.skip(`${shell} is not installed`)
        const script = join(folder, `completion.${shell}`)
        await writeFile(script, await ok('completion', shell))
        const found = await completed(command, script, Object.keys(cases), { env, cwd: folder })
        assert.deepEqual(found, Object.values(cases))
      })
    }
  })

  test('names of agents come from the last answer when the platform is away, and never fail', async () => {
    const cache = await mkdtemp(join(platform.dataDir, 'cache-'))
    const env = { XDG_CACHE_HOME: cache }
    const names = await roost(['completion', 'agents'], { env })
    assert.deepEqual([names.code, names.out.includes(`${agent}\n`), names.err], [0, true, ''])
    const away = { ...env, ROOST_URL: 'http://127.0.0.1:9', ROOST_KEY: 'svc_mcp_x' }
    assert.deepEqual(await roost(['completion', 'agents'], { env: away }), { code: 0, out: '', err: '' })
    const nobody = { ...env, ROOST_CONFIG: join(cache, 'none') }
    assert.deepEqual(await roost(['completion', 'agents'], { env: nobody }), { code: 0, out: '', err: '' })
    // Accepts connections and never answers.
    const silent = createServer(() => {})
    await once(silent.listen(0, '127.0.0.1'), 'listening')
    const { port } = silent.address() as AddressInfo
    const slow = { ...env, ROOST_URL: `http://127.0.0.1:${port}`, ROOST_KEY: 'svc_mcp_x' }
    assert.deepEqual(await roost(['completion', 'agents'], { env: slow }), { code: 0, out: '', err: '' })
    silent.closeAllConnections()
    silent.close()
  })

  test('logout removes the platform and deletes its key', async () => {
    const { servers } = JSON.parse(await readFile(config, 'utf8'))
    assert.equal((await terminal(['logout'])).code, 0)
    const { json: keys } = await platform.request('GET', '/api/mcp/keys')
    assert.ok(!keys.some(({ id }: Loose) => id === servers.default.key_id))
    assert.ok(!(await readFile(config, 'utf8')).includes(servers.default.key))
  })
})

describe('the typed client as a package', () => {
  const root = resolve(import.meta.dirname, '../..')
  const execute = promisify(execFile)
  const within = { timeout: 300_000 }

  test('packs, installs offline in an empty folder, and its example type-checks and runs there', async () => {
    const folder = join(platform.dataDir, 'client')
    await mkdir(folder)
    await buildClient(join(folder, 'package'))
    const pack = [
      'pack',
      join(folder, 'package'),
      join(root, 'node_modules/zod'),
      '--pack-destination',
      folder,
    ]
    const { stdout } = await execute('npm', pack, within)
    const archives = stdout
      .trim()
      .split('\n')
      .map((name) => join(folder, name))
    assert.match(archives[0] ?? '', /roost-contracts-\d+\.\d+\.\d+\.tgz$/)

    const project = join(folder, 'project')
    await cp(join(root, 'examples/client'), project, { recursive: true })
    await execute('npm', ['install', '--offline', '--no-audit', ...archives], { ...within, cwd: project })
    const types = ['--typeRoots', join(root, 'node_modules/@types')]
    const compiler = join(root, 'node_modules/typescript/bin/tsc')
    await execute(process.execPath, [compiler, '-p', project, ...types], within)

    const { key } = (await platform.request('POST', '/api/mcp/keys', { name: 'example' })).json
    const env = { PATH: process.env.PATH, ROOST_URL: platform.url, ROOST_KEY: key }
    const ask = (name: string) =>
      execute(process.execPath, ['ask.ts', name, '[[reply:typed]]'], { ...within, cwd: project, env })
    const { stdout: output } = await ask(agent)
    assert.match(output, new RegExp(`agent ${agent}: running, claude-code`))
    assert.match(output, /chat: typed\ntask: success, typed, [\d.]+ USD\n$/)
    const refused: Loose = await ask('nobody').catch((error: unknown) => error)
    assert.equal(refused.code, 1)
    assert.match(refused.stderr, /^404 agent_not_found: /)
  })
})
