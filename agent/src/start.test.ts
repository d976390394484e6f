import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import {
  chmodSync,
  chownSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import type { Principal } from '@roost/contracts/link/runs'
import { markedProcesses } from './processes/tree.ts'
import { seenRun } from './runtimes/suite.ts'
import { aRun, type TestPlatform } from './test/platform.ts'
import { prepareProgram } from './test/process.ts'

test('the program connects, holds less than 40 MB of its own memory at rest and exits cleanly', async () => {
  await using t = await prepareProgram()
  t.warm()
  const first = t.start('start.ts')
  const hello = await t.hello(1)
  assert.equal(hello.protocol, 1)
  assert.equal(hello.runtime, 'claude-code')
  assert.deepEqual(hello.held, [])
  assert.equal(await t.end(first, 'SIGTERM'), 0)
  const second = t.start('start.ts')
  await t.hello(2)
  // It loads modules until its first heartbeat.
  t.platform.beats.length = 0
  await t.platform.until(() => t.platform.beats.length > 0, 'a heartbeat')
  // Counts anonymous memory only. Node's binary is shared by all programs, and its mapped size varies between
  // starts.
  const kilobytes = Number(/RssAnon:\s+(\d+)/.exec(readFileSync(`/proc/${second.pid}/status`, 'utf8'))?.[1])
  assert.ok(kilobytes < 40 * 1024, `${Math.round(kilobytes / 1024)} MB`)
})

test('a program killed during a run reports the run with all its lines', async () => {
  await using t = await prepareProgram()
  const program = t.start('test/program.ts')
  await t.hello(1)
  const run = aRun({ message: '[[lines:20]][[hang]]' })
  const done = aRun({ message: '[[reply:done]]' })
  t.platform.enqueue(run)
  t.platform.enqueue(done)
  await t.platform.until(() => seenRun(t, run.execution_id).lines.length === 21, 'all lines')
  await t.platform.result(done.execution_id)
  await t.end(program, 'SIGKILL')
  // The platform lost the last lines and requests them again.
  seenRun(t, run.execution_id).lines.length = 5
  t.start('test/program.ts')
  const hello = await t.hello(2)
  assert.equal(hello.held.find(({ execution_id }) => execution_id === run.execution_id)?.state, 'finished')
  const result = await t.platform.result(run.execution_id)
  assert.equal(result.status, 'failed')
  assert.equal(result.error_code, 'agent_lost')
  const { lines } = seenRun(t, run.execution_id)
  assert.equal(result.last_line, lines.length)
  const numbers = lines.flatMap((line) => (line.type === 'user' ? line.message.content : []))
  assert.deepEqual(
    numbers.map(({ content }) => content),
    Array.from({ length: 20 }, (_, index) => `line ${index + 1}`),
  )
  assert.partialDeepStrictEqual(lines.at(-1), { type: 'error', error: 'agent_lost' })
  await t.platform.until(() => markedProcesses(run.execution_id).length === 0, 'the end of its processes')
})

const asRoot = process.getuid?.() === 0 ? {} : { skip: 'only root can give a process two users' }

const readOnly = {
  enabled: true,
  allowed_patterns: ['content/**', '.tmp/**', '*.log'],
  blocked_patterns: ['*.py', '.env'],
}

async function shell(t: { platform: TestPlatform }, command: string): Promise<string> {
  const run = aRun({ message: `[[tool:Bash:${command}]]` })
  t.platform.enqueue(run)
  const result = await t.platform.result(run.execution_id)
  return result.response?.replace(/^tool-result: /, '') ?? JSON.stringify(result)
}

test('a child has no capabilities and cannot inspect the program', asRoot, async () => {
  await using t = await prepareProgram()
  const program = t.start('test/program.ts')
  await t.hello(1)
  const status = await shell(t, `id -u; grep -h ^Cap /proc/self/status; cat /proc/${program.pid}/environ`)
  assert.match(status, /^1000\n/)
  for (const set of ['Inh', 'Prm', 'Eff', 'Amb']) assert.match(status, new RegExp(`Cap${set}:\\s+0+\\n`))
  assert.match(status, /environ: Permission denied/)
  assert.ok(!status.includes(t.platform.key))
})

test(
  'a read-only turn runs as another user: it cannot change sources but shares allowed folders',
  asRoot,
  async () => {
    await using t = await prepareProgram()
    const { home } = t.place
    Object.assign(t.platform.settings, { read_only: readOnly })
    mkdirSync(join(home, 'src'))
    writeFileSync(join(home, 'src', 'app.py'), 'original')
    writeFileSync(join(home, 'old.log'), 'first\n')
    writeFileSync(join(home, '.env'), 'MY_KEY=x')
    for (const path of ['src', 'src/app.py', 'old.log', '.env']) chownSync(join(home, path), 1000, 1000)
    chmodSync(join(home, '.env'), 0o600)
    // Writable by the developer's group, which the reader does not belong to.
    chmodSync(join(home, 'src', 'app.py'), 0o664)
    chmodSync(join(home, 'src'), 0o775)
    const developer = t.start('test/program.ts')
    await t.hello(1)
    assert.match(await shell(t, 'id -u'), /^1001\n/)
    for (const command of [
      'echo x >> src/app.py',
      'rm -f src/app.py',
      'mv src other',
      'echo x > src/new.py',
      'echo x > new.py',
      'cat .env',
      'chmod 777 src/app.py',
      'echo x > ../volume/program/spool/x',
      'ls ../volume/program',
      'ls ../volume/homes',
    ])
      assert.match(await shell(t, command), /denied|not permitted/i, command)
    assert.equal(readFileSync(join(home, 'src', 'app.py'), 'utf8'), 'original')
    await shell(t, 'umask 077; mkdir content/mine; echo made > content/mine/a.txt; echo second >> old.log')
    assert.equal(readFileSync(join(home, 'content', 'mine', 'a.txt'), 'utf8'), 'made\n')
    assert.equal(readFileSync(join(home, 'old.log'), 'utf8'), 'first\nsecond\n')

    // In normal mode the developer can change files that the reader created.
    const settings = { ...t.platform.settings, read_only: { ...readOnly, enabled: false } }
    await t.platform.call('settings', { settings })
    assert.match(
      await shell(t, 'id -u; echo more >> content/mine/a.txt && rm -r content/mine && echo gone'),
      /^1000\ngone/,
    )
    assert.equal(statSync(home).mode & 0o777, 0o755)
    assert.equal(developer.exitCode, null)
  },
)

const visitor: Principal = { id: 'visitor:one', access: 'read', credentials: false }
const writer: Principal = { id: 'user:writer', access: 'write', credentials: true }

test(
  'an agent of an earlier version keeps all conversations, each in its person’s place',
  asRoot,
  async () => {
    await using t = await prepareProgram()
    const { home, root } = t.place
    const state = join(home, '.roost', 'state', 'claude-code')
    mkdirSync(state, { recursive: true })
    const sessions = { owner: '11111111-0000', visitor: '22222222-0000' }
    for (const [who, id] of Object.entries(sessions))
      writeFileSync(join(state, `${id}.txt`), `word of ${who}\n`)
    execFileSync('chown', ['-R', '1000:1000', join(home, '.roost')])
    // Written by a read-only turn.
    chownSync(join(state, `${sessions.visitor}.txt`), 1001, 1001)
    chmodSync(join(state, `${sessions.visitor}.txt`), 0o660)
    t.start('test/program.ts')
    await t.hello(1)
    const resume = async (principal: Principal | null, id: string, word: string) => {
      const run = aRun({
        message: `[[recall:${word}]]`,
        resume_session_id: id,
        ...(principal ? { principal } : {}),
      })
      t.platform.enqueue(run)
      return (await t.platform.result(run.execution_id)).response
    }
    assert.equal(await resume(visitor, sessions.visitor, 'word of visitor'), 'recall=yes')
    assert.equal(await resume(null, sessions.owner, 'word of owner'), 'recall=yes')
    assert.equal(existsSync(state), false)
    const own = join(root, 'volume', 'homes', String(t.firstUid), '.state', 'claude-code')
    assert.deepEqual(readdirSync(own), [`${sessions.visitor}.txt`])
    assert.equal(statSync(join(own, `${sessions.visitor}.txt`)).uid, t.firstUid)
  },
)

test('a template of another user is copied with its modes and links', asRoot, async () => {
  await using t = await prepareProgram()
  const { home, root } = t.place
  const template = join(root, 'template')
  mkdirSync(join(template, 'bin'), { recursive: true })
  mkdirSync(join(template, 'shared-in'))
  writeFileSync(join(template, 'bin', 'run.sh'), '#!/bin/sh\n', { mode: 0o755 })
  symlinkSync('bin/run.sh', join(template, 'run'))
  t.start('test/program.ts')
  await t.hello(1)
  assert.match(await shell(t, 'cat run'), /bin\/sh/)
  const copied = statSync(join(home, 'bin', 'run.sh'))
  assert.deepEqual([copied.uid, copied.mode & 0o777], [1000, 0o755])
  assert.equal(readlinkSync(join(home, 'run')), 'bin/run.sh')
  assert.equal(existsSync(join(home, 'shared-in')), false)
})

test('the uid of a principal survives the program and is never given to another one', asRoot, async () => {
  await using t = await prepareProgram()
  const uidOf = async (principal: Principal) => {
    const run = aRun({ message: '[[tool:Bash:id -u]]', principal })
    t.platform.enqueue(run)
    return Number(/\d+/.exec((await t.platform.result(run.execution_id)).response ?? '')?.[0])
  }
  const first = t.start('test/program.ts')
  await t.hello(1)
  const before = [await uidOf(visitor), await uidOf(writer)]
  await t.end(first, 'SIGKILL')
  // Half-written, and then lost.
  const map = join(t.place.root, 'volume', 'program', 'principals.json')
  writeFileSync(`${map}.part`, '{"visitor:')
  const second = t.start('test/program.ts')
  await t.hello(2)
  assert.deepEqual([await uidOf(visitor), await uidOf(writer)], before)
  await t.end(second, 'SIGKILL')
  rmSync(map)
  t.start('test/program.ts')
  await t.hello(3)
  assert.ok(!before.includes(await uidOf({ ...visitor, id: 'visitor:two' })))
})

test('folders taken off the allowed patterns are closed for the next read-only turn', asRoot, async () => {
  await using t = await prepareProgram()
  const { home } = t.place
  const allow = (...allowed_patterns: string[]) => ({ enabled: true, allowed_patterns, blocked_patterns: [] })
  Object.assign(t.platform.settings, { read_only: allow('content/**', 'output/**', '*.log') })
  t.start('test/program.ts')
  await t.hello(1)
  const make = 'mkdir -p content/deep && echo 1 > content/deep/a && echo 1 > output/a && echo made'
  assert.match(await shell(t, make), /made/)
  const settings = { ...t.platform.settings, read_only: allow('output/**') }
  await t.platform.call('settings', { settings })
  for (const command of [
    'echo 2 >> content/deep/a',
    'echo 2 > content/new',
    'rm -r content/deep',
    'echo 2 > content/deep/b',
  ])
    assert.match(await shell(t, command), /denied|not permitted/i, command)
  assert.match(await shell(t, 'echo 2 >> output/a && cat content/deep/a && echo kept'), /1\nkept/)
  assert.equal(statSync(join(home, 'content', 'deep', 'a')).uid, 1000)
})

test('a cancelled read-only turn leaves no process behind', asRoot, async () => {
  await using t = await prepareProgram()
  Object.assign(t.platform.settings, { read_only: readOnly })
  t.start('test/program.ts')
  await t.hello(1)
  const run = aRun({ message: '[[daemon]][[lines:1]][[hang]]' })
  t.platform.enqueue(run)
  await t.platform.until(() => seenRun(t, run.execution_id).lines.length > 1, 'the first line')
  assert.ok(markedProcesses(run.execution_id).length >= 2)
  const about = { execution_id: run.execution_id, claim_token: 1, grace_seconds: 5 }
  assert.equal((await t.platform.call('cancel', about)).state, 'stopped')
  assert.deepEqual(markedProcesses(run.execution_id), [])
})

test('a restore goes over the link, and a kill in its middle leaves the old files', async () => {
  await using t = await prepareProgram()
  const { home } = t.place
  const content = createHash('sha256').update('blob 8\0recorded').digest('hex')
  const attributes = { mode: 0o640, owner: true, sparse: false, known: false }
  const text = () => readFileSync(join(home, 'notes'), 'utf8')
  const piece = Buffer.from('recorded').toString('base64')
  const stage = async (restore_id: string) => {
    const { platform } = t
    await platform.call('history.restore.open', {
      restore_id,
      paths: ['notes'],
      rules: { patterns: [], max_file_bytes: 1e9 },
    })
    const entry = { path: 'notes', kind: 'file', content, ...attributes } as const
    await platform.call('history.restore.target', { restore_id, entries: [entry], left_out: [] })
    await platform.call('history.restore.compare', { restore_id })
    assert.equal(await settled(restore_id), 'compared')
    const pieces = [{ content, offset: 0, data_base64: piece, last: true }]
    await platform.call('history.restore.write', { restore_id, pieces })
  }
  const settled = async (restore_id: string) => {
    for (;;) {
      const { state } = await t.platform.call('history.restore.look', { restore_id })
      if (state !== 'comparing' && state !== 'applying') return state
    }
  }
  const staged = () => readdirSync(join(home, '.roost')).filter((name) => name.startsWith('restore-'))
  const first = t.start('start.ts')
  await t.hello(1)
  writeFileSync(join(home, 'notes'), 'later')
  await stage('one')
  if (process.getuid?.() === 0)
    assert.deepEqual(
      staged().map((name) => statSync(join(home, '.roost', name)).uid),
      [900],
    )
  await t.end(first, 'SIGKILL')
  t.start('start.ts')
  await t.hello(2)
  assert.equal(await settled('one'), 'discarded')
  assert.deepEqual([text(), staged()], ['later', []])
  await stage('two')
  await t.platform.call('history.restore.apply', { restore_id: 'two', overwrite: false })
  assert.equal(await settled('two'), 'restored')
  assert.deepEqual([text(), staged(), statSync(join(home, 'notes')).mode & 0o777], ['recorded', [], 0o640])
})
