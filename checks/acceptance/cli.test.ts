/** The command line as a client: every command in its own terminal, against a real platform. */
import assert from 'node:assert/strict'
import { execFile, spawn } from 'node:child_process'
import { cp, mkdir, readFile, stat } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { promisify } from 'node:util'
import { buildClient } from '../../client/build.ts'
import { adminPassword, type Loose, type Platform, startPlatform } from './platform.ts'
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

/** Commands that were run in a terminal. */
const testedCommands = new Set<string>()

/** Runs a command in a pseudo-terminal. Each step types its text after the pattern was printed. */
async function terminal(args: string[], steps: [pattern: RegExp, typed: string][] = []): Promise<Exit> {
  testedCommands.add(args[0] ?? '')
  const words = [process.execPath, main, ...args].map((word) => `'${word.replaceAll("'", `'\\''`)}'`)
  const child = spawn('script', ['-qefc', words.join(' '), '/dev/null'], {
    env: environment({ TERM: 'dumb' }),
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
    const [newest] = await json('executions', agent, '--limit', '1')
    assert.equal(newest.status, 'cancelled')
  })

  test('task waits for the end and returns it as exit code; --async does not wait', async () => {
    assert.equal(await ok('task', agent, '[[reply:done]]'), 'done\n')
    const failed = await roost(['task', agent, '[[fail]]'])
    assert.equal(failed.code, 1)
    assert.match(failed.err, /agent_error/)
    const id = (await ok('task', agent, '[[reply:later]]', '--async')).trim()
    assert.equal((await roost(['executions', 'log', agent, id, '-f'])).out, 'later\n')
    assert.match(await ok('executions', 'show', agent, id), /later/)
    assert.match(await ok('executions', 'log', agent, id), /"result"/)
    assert.match(await ok('executions'), new RegExp(id))
    assert.match(await ok('executions', 'stop', agent, id), /already_finished/)
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
      ...['agents', 'executions', 'skills', 'reports', 'keys', 'prices', 'replicas', 'servers', 'version'],
      ...['fleet status', 'fleet health', 'mcp-config cursor', 'completion zsh'],
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
