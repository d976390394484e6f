/** Attempts at one task, in real containers: what is kept, what a kill loses, and what is left. */
import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { readFile } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { after, before, test } from 'node:test'
import { promisify } from 'node:util'
import { containerNames, docker, dockerOnly } from './engine.ts'
import { eventually, type Loose, type Platform, signIn, startPlatform } from './platform.ts'
import { createAgent } from './steps.ts'

const agent = 'qa-attempts'
const run = promisify(execFile)
const url = `/api/agents/${agent}/attempts`
let platform: Platform
before(async () => {
  platform = await startPlatform()
  await createAgent(platform, agent)
})
after(() => platform?.[Symbol.asyncDispose]())

async function start(body: object): Promise<string> {
  const reply = await platform.request('POST', url, body)
  assert.equal(reply.status, 202, reply.text)
  return reply.json.id
}

const get = async (id: string): Promise<Loose> => (await platform.request('GET', `${url}/${id}`)).json
/** Eight attempts that start at once need minutes on a loaded machine. */
async function until(id: string, isReached: (set: Loose) => boolean): Promise<Loose> {
  try {
    return await eventually(() => get(id), isReached, 300_000)
  } catch (error) {
    const { status, attempts } = await get(id)
    const states = attempts.map((attempt: Loose) => attempt.status)
    throw new Error(`the set is ${status}: ${states.join(', ')}`, { cause: error })
  }
}
const isDone = ({ status }: Loose) => status === 'done' || status === 'failed'
const hasEnded = ({ ended_at }: Loose) => ended_at !== null

/** Reads the data folder, as an operator could. */
function rows(query: string): Loose[] {
  const db = new DatabaseSync(join(platform.dataDir, 'roost.db'), { readOnly: true })
  try {
    return db.prepare(query).all()
  } finally {
    db.close()
  }
}

async function read(path: string): Promise<string> {
  return (await platform.request('GET', `/api/agents/${agent}/files/download?path=${path}`)).text
}

const forks = async () => (await containerNames()).filter((name) => name.includes('attempt-'))
const volumes = async () =>
  (await docker('volume', 'ls', '--format', '{{.Name}}'))
    .split('\n')
    .filter((name) => name.includes('attempt-'))

/** Containers and volumes of this installation, also those on which the workspaces of forks are layered. */
async function engineObjects(): Promise<string[]> {
  const install = (await readFile(join(platform.dataDir, 'install-id'), 'utf8')).trim()
  const filter = ['--filter', `label=roost.install=${install}`, '--format']
  const containers = await docker('ps', '-a', ...filter, '{{.Names}}')
  return `${containers}\n${await docker('volume', 'ls', ...filter, '{{.Name}}')}`.split('\n').sort()
}

async function refs(): Promise<string[]> {
  const folder = join(platform.dataDir, 'history', 'objects.git')
  const args = ['-c', 'safe.directory=*', '--git-dir', folder, 'for-each-ref', '--format=%(refname)']
  return (await run('git', args)).stdout.split('\n').filter(Boolean)
}

/** Nothing of attempts: no container, volume, agent, key or record. */
async function assertNothingLeft(): Promise<void> {
  assert.deepEqual(await eventually(forks, (names) => names.length === 0), [])
  assert.deepEqual(await eventually(volumes, (names) => names.length === 0), [])
  assert.deepEqual(rows('select name from agents where attempt_set_id is not null'), [])
  assert.deepEqual(rows('select id from agent_leftovers'), [])
  assert.deepEqual(rows("select id from workspace_records where reason = 'attempt'"), [])
  const known = new Set(rows('select id from workspace_records').map(({ id }) => id))
  assert.deepEqual(
    (await refs()).filter((name) => !known.has(name.split('/').at(-1) ?? '')),
    [],
  )
}

test('three attempts, one kept: the workspace is that of the winner, and the others are gone', async () => {
  await platform.request('POST', `/api/agents/${agent}/task`, {
    message: '[[tool:Bash:mkdir -p src; echo before > src/a.txt; echo keep > other.txt]] [[reply:ok]]',
  })
  const write = (name: string) =>
    `[[tool:Bash:echo ${name} > src/a.txt; echo ${name} > src/${name}.txt; rm other.txt]] [[reply:wrote ${name}]]`
  const id = await start({
    messages: [write('one'), write('two'), write('three')],
    check: 'grep -q two src/a.txt && test ! -e other.txt && echo "$PWD"',
  })
  const names = (await platform.request('GET', '/api/agents')).json.map(({ name }: Loose) => name)
  assert.ok(!names.some((name: string) => name.startsWith('attempt-')))
  const done = await until(id, isDone)
  assert.deepEqual(
    done.attempts.map(({ status, result, check }: Loose) => [status, result, check?.exit_code]),
    [
      ['done', 'wrote one', 1],
      ['done', 'wrote two', 0],
      ['done', 'wrote three', 1],
    ],
    JSON.stringify(done),
  )
  assert.equal(done.attempts[1].check.output, '/home/developer\n')
  assert.deepEqual(await forks(), [])
  const kept = await platform.request('POST', `${url}/${id}/keep`, { attempt: 2 })
  assert.equal(kept.status, 202, kept.text)
  const ended = await until(id, hasEnded)
  assert.equal(ended.status, 'kept', JSON.stringify(ended))
  assert.deepEqual([await read('src/a.txt'), await read('src/two.txt')], ['two\n', 'two\n'])
  assert.equal(
    (await platform.request('GET', `/api/agents/${agent}/files/download?path=other.txt`)).status,
    404,
  )
  await assertNothingLeft()
})

test('the CLI tries a task, keeps the best check without asking, and shows the set', async () => {
  const env = { ...process.env, ROOST_URL: platform.url, ROOST_KEY: platform.token }
  const roost = async (...words: string[]) =>
    (await run(join(resolve(import.meta.dirname, '../..'), 'roost'), words, { env })).stdout
  const wrong = '[[tool:Bash:echo wrong > cli.txt]] [[reply:wrong]]'
  const right = '[[tool:Bash:echo right > cli.txt]] [[reply:right]]'
  const options = ['--attempts', '1', '--also', right, '--check', 'grep right cli.txt']
  const tried = await roost('task', agent, wrong, ...options, '--pick', 'best-check')
  assert.match(tried, /attempt 2 was kept/)
  assert.match(tried, /exit code 1.*passed/s)
  assert.equal(await read('cli.txt'), 'right\n')
  const [{ id }] = (await platform.request('GET', url)).json.sets
  assert.match(await roost('attempts', 'list', agent), /kept 2/)
  assert.match(await roost('attempts', 'show', agent, id), /Undo it: roost history restore/)
  await roost('attempts', 'delete', agent, id)
  await assertNothingLeft()
})

test('the cap holds over the sum', async () => {
  const spender = '[[usage:100000,100000]] [[tool:Bash:echo x >> spent.txt]] [[reply:done]]'
  const id = await start({ messages: [spender], repeats: 3, max_cost_usd: 0.000001 })
  const set = await until(id, isDone)
  // The first requests were under way together; each second one was refused.
  for (const attempt of set.attempts) assert.equal(attempt.error_code, 'cap_reached', JSON.stringify(attempt))
  const perRequest = Math.max(...set.attempts.map(({ cost }: Loose) => cost))
  assert.ok(set.cost > 0 && set.cost <= perRequest * 3 + 1e-9, JSON.stringify(set))
  await platform.request('POST', `${url}/${id}/discard`)
  await until(id, hasEnded)
  await assertNothingLeft()
})

async function killAndStart(): Promise<void> {
  await platform.killApi()
  await platform.startApi()
  platform.token = await signIn(platform)
}

const order = ['waiting', 'forking', 'running', 'recording', 'checking', 'done', 'failed', 'cancelled']

test('kills while forks are made, work, are checked and are kept lose and repeat nothing', async () => {
  const message = '[[tool:Bash:sleep 2; echo once >> killed.txt]] [[reply:ok]]'
  const check = 'echo checked >> checks.txt; sleep 3; cat killed.txt checks.txt'
  const id = await start({ messages: [message], repeats: 3, check })
  for (const status of ['forking', 'running', 'checking']) {
    const isReached = (attempt: Loose) => order.indexOf(attempt.status) >= order.indexOf(status)
    await until(id, ({ attempts }) => attempts.some(isReached))
    await killAndStart()
  }
  const done = await until(id, isDone)
  assert.deepEqual(
    done.attempts.map(({ status, check }: Loose) => [status, check?.output]),
    Array.from({ length: 3 }, () => ['done', 'once\nchecked\n']),
    JSON.stringify(done),
  )
  const runs = rows(`select execution_id from attempts where set_id = '${id}'`)
  assert.equal(new Set(runs.map(({ execution_id }) => execution_id)).size, 3)
  assert.deepEqual(rows(`select id from executions where message = '${message}'`).length, 3)

  await platform.request('POST', `${url}/${id}/keep`, { attempt: 3 })
  await killAndStart()
  const kept = await until(id, (set) => hasEnded(set) || set.keep?.state === 'failed')
  if (kept.status !== 'kept') {
    assert.equal((await read('killed.txt')).includes('once'), false)
    const again = await platform.request('POST', `${url}/${id}/keep`, { attempt: 3 })
    assert.equal(again.status, 202, again.text)
  }
  assert.equal((await until(id, hasEnded)).status, 'kept')
  assert.equal(await read('killed.txt'), 'once\n')
  await assertNothingLeft()
})

test('a hostile check hangs, fills its output, and reaches neither siblings nor keys', async () => {
  const check = [
    'echo evil > evil.txt; echo evil > /home/developer/../evil.txt',
    'for i in $(seq 100); do setsid sleep 600 & done 2>/dev/null',
    'yes output | head -c 5000000; head -c 3000 /dev/urandom; head -c 100000 /dev/zero',
    'env; cat /proc/1/environ 2>&1; ls /var/lib/roost 2>&1; cat /var/lib/roost/*/* 2>&1 | head -c 1000',
    'sleep 600',
  ].join('; ')
  const id = await start({ messages: ['[[reply:ok]]'], repeats: 2, check, check_timeout_seconds: 5 })
  const done = await until(id, isDone)
  for (const { check: result, changes } of done.attempts) {
    assert.deepEqual([result.exit_code, result.timed_out], [null, true])
    assert.ok(result.truncated && result.output.length <= 20_000)
    assert.doesNotMatch(result.output, /canary|svc_mcp_|ROOST_AGENT_KEY=[^\s[]/)
    assert.deepEqual(changes, { added: 0, changed: 0, deleted: 0, renamed: 0 }, 'made before the check')
  }
  await platform.request('POST', `${url}/${id}/discard`)
  await until(id, hasEnded)
  await assertNothingLeft()
})

const rounds = Number(process.env.ROOST_TEST_ATTEMPT_ROUNDS ?? 1)

test('rounds of eight attempts leave no container, volume or byte behind', {
  skip: dockerOnly,
}, async (t) => {
  const before = await refs()
  const objects = await engineObjects()
  const sets = rows('select id from attempt_sets')
  for (let round = 0; round < rounds; round += 1) {
    const message = `[[tool:Bash:head -c 100000 /dev/urandom > round.bin]] [[reply:ok]]`
    const startedAt = performance.now()
    const id = await start({ messages: [message], repeats: 8 })
    const isAtWork = ({ status }: Loose) => order.indexOf(status) >= order.indexOf('running')
    await until(id, ({ attempts }) => attempts.every(isAtWork))
    t.diagnostic(`eight attempts work after ${Math.round(performance.now() - startedAt)} ms`)
    const done = await until(id, isDone)
    assert.ok(
      done.attempts.every(({ status }: Loose) => status === 'done'),
      JSON.stringify(done),
    )
    await platform.request('POST', `${url}/${id}/discard`)
    await until(id, hasEnded)
    assert.equal((await platform.request('DELETE', `${url}/${id}`)).status, 200)
  }
  await assertNothingLeft()
  assert.deepEqual(await eventually(engineObjects, (now) => now.length <= objects.length), objects)
  assert.deepEqual(rows('select id from workspace_bases'), [])
  assert.deepEqual(rows('select id from attempt_sets'), sets)
  // Each set leaves the record of its base.
  assert.equal((await refs()).length, before.length + rounds)
})
