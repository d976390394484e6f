/** The command line as a client: sign-in, every command in its own terminal, fleets, keys and completion. */
import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { chmod, mkdtemp, readFile, stat, writeFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { describe, test } from 'node:test'
import { stripVTControlCharacters } from 'node:util'
import { hasProgram } from '../../cli/src/machine/run.ts'
import {
  agent,
  config,
  environment,
  json,
  main,
  ok,
  platform,
  roost,
  setUpCli,
  terminal,
  testedCommands,
} from './cli-setup.ts'
import { adminPassword, eventually, type Loose } from './platform.ts'

/** Commands for the platform's machine; each has a test in the CLI package or here. */
const machineCommands =
  'up doctor images backup restore upgrade rollback database rotate-key regain-admin test release model'.split(
    ' ',
  )

setUpCli({ isSignedIn: false })

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

describe('what happens now', () => {
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
    assert.equal((await roost(['cp', '-', `${agent}:shown.txt`], { input: 'shown' })).code, 0)
    const words = [
      ...['agents', 'runs', 'skills', 'reports', 'keys', 'prices', 'replicas', 'servers', 'version'],
      ...[
        'fleet status',
        'fleet health',
        'mcp-config cursor',
        'completion zsh',
        `cp ${agent}:shown.txt -`,
        `ssh ${agent} true`,
        `chat ${agent} [[reply:fine]]`,
        'open',
      ],
      ...[
        `schedules ${agent}`,
        `shares ${agent}`,
        `history ${agent}`,
        `loops ${agent}`,
        `attempts ${agent}`,
        `task ${agent} [[reply:fine]]`,
      ],
    ]
    const done = (await ok('task', agent, '[[reply:fine]]', '--async')).trim()
    await ok('runs', 'log', done, '-f')
    words.push(`undo ${done} --dry-run`)
    for (const line of words) {
      const { code, out } = await terminal(line.split(' '))
      assert.equal(code, 0, `${line}: ${out}`)
    }
    const listed = [...(await ok('help')).matchAll(/^ {2}roost ([\w-]+)/gm)].map(([, name = '']) => name)
    const untested = listed.filter((name) => !testedCommands.has(name) && !machineCommands.includes(name))
    assert.deepEqual(untested, ['logout'], 'logout is tested last')
  })

  test('a restore that waits is cancelled from another terminal', async () => {
    const undone = (await ok('task', agent, '[[reply:fine]]', '--async')).trim()
    await ok('runs', 'log', undone, '-f')
    const busy = (await ok('task', agent, '[[hold:cancel]] [[reply:fine]]', '--async')).trim()
    await eventually(
      async () => (await platform.request('GET', `/api/executions/${busy}`)).json.status,
      (status) => status === 'running',
    )
    const undoing = terminal(['undo', undone, '--when-busy', 'wait', '--yes'])
    await eventually(
      async () => (await platform.request('GET', `/api/agents/${agent}/history/restores`)).json.restores[0],
      (restore) => restore?.state === 'waiting',
    )
    assert.match(await ok('history', 'cancel', agent), /is cancelled/)
    platform.model.release('cancel')
    const { code, out } = await undoing
    assert.equal(code, 1, out)
    assert.match(out, /was not restored: cancelled/)
    assert.equal((await terminal(['history', 'cancel', agent])).code, 4)
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
