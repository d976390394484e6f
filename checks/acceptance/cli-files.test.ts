/** The command line as a client: files of an agent, schedules, loops, skills, and the typed client. */
import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { cp, mkdir, mkdtemp, readFile, stat, symlink, writeFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join, resolve } from 'node:path'
import { before, describe, test } from 'node:test'
import { promisify } from 'node:util'
import { buildClient } from '../../client/build.ts'
import { agent, json, ok, platform, roost, setUpCli, terminal } from './cli-setup.ts'
import type { Loose } from './platform.ts'

setUpCli({ isSignedIn: true })

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
