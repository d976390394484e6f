/** Forks of an agent in real containers: the same tree, a source that does not notice, and nothing left of a failure. */
import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { join, resolve } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { after, before, test } from 'node:test'
import { promisify } from 'node:util'
import { eventually, type Loose, type Platform, signIn, startPlatform } from './platform.ts'
import { answerOf, createAgent, docker, isOver, untilExecution } from './steps.ts'

const run = promisify(execFile)
const source = 'qa-fork-source'
const canary = 'canary-of-the-forked-agent'
const said = 'words-of-the-forked-agent'
const schedule = { name: 'nightly', message: '[[reply:ok]]', cron_expression: '0 3 * * *' }
let platform: Platform
before(async () => {
  platform = await startPlatform()
  await createAgent(platform, source, { custom_instructions: 'Be brief.', tags: ['forked'] })
  assert.equal(await inAgent(source, oddFiles), '')
  assert.equal(await answerOf(platform, source, `${said} [[reply:ok]]`), 'ok')
  assert.equal((await platform.request('POST', agents(source, '/schedules'), schedule)).status, 201)
})
after(() => platform?.[Symbol.asyncDispose]())

/** Makes files whose names, types and modes a copy can lose. */
const oddFiles = `
set -e
mkdir -p 'odd dir/deep' empty project/.git/hooks .claude
printf 'hello' > 'odd dir/ünï "q".txt'; printf 'line' > "$(printf 'new\\nline')"
printf 'bytes' > "$(printf 'not-utf8-\\377\\376')"
printf '#!/bin/sh\\n' > run.sh; chmod 755 run.sh; chmod 600 'odd dir/ünï "q".txt'
ln -s run.sh soft; ln -s /usr/bin/env absolute; ln -s nowhere dangling; ln -s .. 'odd dir/up'
head -c 3000000 /dev/urandom > random.bin; : > zero; truncate -s 5M sparse; printf 'end' >> sparse
chmod 555 empty; chmod 2775 'odd dir/deep'
printf '{"hooks":{}}' > .claude/settings.json
printf '#!/bin/sh\\n' > project/.git/hooks/post-commit; printf 'ref: refs/heads/main\\n' > project/.git/HEAD
printf 'TOKEN=${canary}\\n' > .env; printf '${canary}' > project/tls.pem; cp .env copy-of-env
`
/** One line for each entry, without what belongs to the installation. */
const listing = (without = '') => `
find . -mindepth 1 \\( -path ./.roost -o -path ./.tmp -o -path ./.ssh -o -path ./shared-in -o -path ./shared-out -o -name .mcp.json \\
  -o -name .roost-initialized -o -path ./.cache ${without} \\) -prune -o \\( -type d -printf '%y %m %p\\0' \\
  -o \\( -type f -o -type l \\) -printf '%y %m %s %p %l\\0' \\) | sort -z | tr '\\0\\n' '\\n?'
find . -path ./.roost -prune -o -path ./.tmp -prune -o -path ./.cache -prune -o -name .mcp.json -prune \\
  ${without.replaceAll(/-o (-\w+) (\S+)/g, '-o $1 $2 -prune')} \\
  -o -type f ! -name .roost-initialized -print0 | sort -z | xargs -0 sha256sum
`
const secrets = '-o -name .env -o -name tls.pem -o -name copy-of-env'
const inAgent = (name: string, script: string) =>
  docker('exec', '-u', 'developer', '-w', '/home/developer', platform.containerOf(name), 'sh', '-c', script)
const agents = (name: string, path = '') => `/api/agents/${name}${path}`
const fork = (body: { name: string } & Loose, from = source) =>
  platform.request('POST', agents(from, '/fork'), body)
const details = async (name: string) => (await platform.request('GET', agents(name))).json
const write = async (name: string, content: string) =>
  assert.equal(await inAgent(name, `printf '${content}' > random.bin`), '')
const read = (name: string) => inAgent(name, 'cat random.bin')
const schedulesOf = async (name: string): Promise<Loose[]> =>
  (await platform.request('GET', agents(name, '/schedules'))).json
/** Whether the agent's volumes have this text, read by the engine as it is allowed to read everything. */
const hasText = async (name: string, text: string) => {
  for (const folder of ['/home/developer', '/var/lib/roost']) {
    const archive = await docker('cp', `${platform.containerOf(name)}:${folder}`, '-')
    assert.ok(archive.includes('ustar'), archive.slice(0, 200))
    if (archive.includes(text)) return true
  }
  return false
}
const keyOf = async (name: string) =>
  (await docker('exec', platform.containerOf(name), 'printenv', 'ROOST_AGENT_KEY')).trim()
const recordsOf = async (name: string): Promise<Loose[]> =>
  (await platform.request('GET', agents(name, '/history'))).json.records

function rows(query: string, ...values: string[]): Loose[] {
  const db = new DatabaseSync(join(platform.dataDir, 'roost.db'), { readOnly: true })
  try {
    return db.prepare(query).all(...values)
  } finally {
    db.close()
  }
}

/** Whatever the database and the engine have of an agent. */
async function traces(name: string): Promise<string[]> {
  const filter = ['--filter', `name=agent-${name}`]
  return [
    ...rows('select name from agents where name = ?', name).map((row) => row.name),
    ...(await docker('ps', '-aq', ...filter)).split('\n'),
    ...(await docker('volume', 'ls', '-q', ...filter)).split('\n'),
  ].filter(Boolean)
}
const untilGone = (name: string) =>
  eventually(
    () => traces(name),
    (left) => left.length === 0,
  )

test('a fork from now has the tree of its running source, without secrets, words and schedules', async () => {
  const before = await inAgent(source, listing())
  const reply = await fork({ name: 'qa-fork-now' })
  assert.equal(reply.status, 200, reply.text)
  assert.match(reply.json.warnings.join(' '), /"\.env".*"copy-of-env"/)
  // New agents have an empty `.env`.
  assert.equal(await inAgent('qa-fork-now', 'rm -f .env'), '')
  assert.equal(await inAgent('qa-fork-now', listing()), await inAgent(source, listing(secrets)))
  assert.equal(await inAgent(source, listing()), before, 'the source is as it was')
  for (const text of [canary, said]) {
    assert.ok(await hasText(source, text), `the search finds ${text}`)
    assert.equal(await hasText('qa-fork-now', text), false)
  }
  assert.notEqual(await keyOf('qa-fork-now'), await keyOf(source))
  assert.equal(await hasText('qa-fork-now', await keyOf(source)), false)
  assert.deepEqual(await schedulesOf('qa-fork-now'), [])
  const { custom_instructions, tags, forked_from } = await details('qa-fork-now')
  assert.deepEqual([custom_instructions, tags], ['Be brief.', ['forked']])
  assert.deepEqual([forked_from.agent_name, forked_from.can_open], [source, true])
})

test('with credentials and schedules, the tree is byte-equal; runs are recorded apart from the source', async () => {
  const name = 'qa-fork-whole'
  const reply = await fork({ name, with_credentials: true, with_schedules: true })
  assert.equal(reply.status, 200, reply.text)
  assert.equal(await inAgent(name, listing()), await inAgent(source, listing()))
  assert.equal(await hasText(name, await keyOf(source)), false)
  assert.deepEqual(
    (await schedulesOf(name)).map((each) => [each.name, each.enabled]),
    [['nightly', false]],
  )
  const before = (await recordsOf(source)).length
  const task = await platform.request('POST', agents(name, '/task'), {
    message: '[[tool:Bash:echo changed > run.sh; rm -rf project]] [[reply:ok]]',
  })
  assert.equal(task.status, 200, task.text)
  assert.equal(await inAgent(source, 'head -c 3 run.sh; ls project/.git/HEAD'), '#!/project/.git/HEAD')
  const changes = await eventually(
    async () => (await platform.request('GET', `/api/executions/${task.json.execution_id}/changes`)).json,
    ({ status }) => status === 'recorded',
  )
  const changed = changes.changes.map(({ path, change }: Loose) => `${change} ${path}`)
  assert.ok(changed.includes('changed run.sh'), changed.join(', '))
  assert.equal((await recordsOf(source)).length, before)
})

test('forks of one record share nothing that they write; they outlive their source, and vanish whole', async (t) => {
  // An engine can layer what has no holes.
  assert.equal(await inAgent(source, 'rm sparse'), '')
  await write(source, 'old')
  assert.equal((await fork({ name: 'qa-fork-old' })).status, 200)
  const [record] = await recordsOf(source)
  await write(source, 'new')
  const { stdout } = await run(
    join(resolve(import.meta.dirname, '../..'), 'roost'),
    ['agents', 'fork', source, 'qa-fork-cli', '--at', String(record?.number)],
    { env: { ...process.env, ROOST_URL: platform.url, ROOST_KEY: platform.token } },
  )
  assert.match(stdout, /qa-fork-cli is running\./)
  const volumes = (await traces('qa-fork-cli')).filter((each) => each.includes('workspace'))
  t.diagnostic(`volumes of a fork: ${volumes.join(', ')}`)
  for (const each of ['qa-fork-cli', 'qa-fork-old']) {
    assert.equal(await read(each), 'old')
    assert.equal(await hasText(each, canary), false)
  }
  await write('qa-fork-old', 'own')
  assert.equal(await inAgent('qa-fork-old', 'rm run.sh; mv project moved; echo 1 > new.txt'), '')
  assert.deepEqual([await read(source), await read('qa-fork-cli')], ['new', 'old'])
  for (const each of [source, 'qa-fork-cli'])
    assert.equal(
      await inAgent(each, 'ls run.sh project/.git/HEAD; [ ! -e new.txt ]'),
      'project/.git/HEAD\nrun.sh',
    )

  assert.equal((await platform.request('DELETE', agents(source))).status, 200)
  await untilGone(source)
  assert.deepEqual([await read('qa-fork-cli'), await read('qa-fork-old')], ['old', 'own'])
  assert.deepEqual((await details('qa-fork-cli')).forked_from.can_open, false)
  assert.equal((await platform.request('DELETE', agents('qa-fork-old'))).status, 200)
  await untilGone('qa-fork-old')
  const second = await fork({ name: 'qa-fork-second' }, 'qa-fork-cli')
  assert.equal(second.status, 200, second.text)
  assert.equal(await read('qa-fork-second'), 'old')
})

test('a run in the middle of its turn is forked, and said so', async () => {
  const from = 'qa-fork-second'
  const task = await platform.request('POST', agents(from, '/task'), {
    message: '[[tool:Bash:echo begun > begun.txt]] [[hold:middle]] [[reply:ok]]',
    async_mode: true,
  })
  assert.ok(task.status < 300, task.text)
  await eventually(
    () => inAgent(from, 'cat begun.txt 2>/dev/null || true'),
    (text) => text === 'begun',
  )
  const reply = await fork({ name: 'qa-fork-middle' }, from)
  platform.model.release('middle')
  assert.equal(reply.status, 200, reply.text)
  assert.match(reply.json.warnings.join(' '), /Runs were working/)
  assert.equal(await inAgent('qa-fork-middle', 'cat begun.txt'), 'begun')
  const ended = await untilExecution(platform, from, task.json.execution_id, isOver)
  assert.equal(ended.status, 'success')
})

test('after a run, a large workspace is ready for its first fork', async () => {
  const from = 'qa-fork-large'
  assert.equal((await platform.request('POST', '/api/agents', { name: from })).status, 200)
  const task = await platform.request('POST', agents(from, '/task'), {
    message: '[[tool:Bash:head -c 40000000 /dev/urandom > large.bin]] [[reply:ok]]',
  })
  assert.equal(task.status, 200, task.text)
  const bases = () =>
    rows(
      'select record_id, state, on_volume from workspace_bases where agent_id = (select id from agents where name = ?)',
      from,
    )
  const prepared = await eventually(
    async () => bases(),
    ([base]) => base?.state === 'filled',
  )
  const reply = await fork({ name: 'qa-fork-of-large' }, from)
  assert.equal(reply.status, 200, reply.text)
  assert.deepEqual(
    bases().filter(({ on_volume }) => on_volume === null),
    prepared,
    'the fork stored only a difference, or nothing',
  )
  const sum = 'sha256sum large.bin'
  assert.equal(await inAgent('qa-fork-of-large', sum), await inAgent(from, sum))
  const [record] = await eventually(
    async () =>
      rows(
        `select received_bytes from workspace_records
          where reason = 'fork' and agent_id = (select id from agents where name = 'qa-fork-of-large')`,
      ),
    ({ length }) => length > 0,
  )
  assert.ok(Number(record?.received_bytes) < 1_000_000, 'the fork sends only what its source does not have')
})

test('a platform killed in the middle of a fork leaves nothing of it', async () => {
  const from = 'qa-fork-cli'
  assert.equal(await inAgent(from, 'head -c 60000000 /dev/urandom > large.bin'), '')
  const request = fork({ name: 'qa-fork-killed' }, from).catch(() => null)
  const named = () => rows("select name from agents where name = 'qa-fork-killed'")
  await eventually(async () => named().length, Boolean)
  await platform.killApi()
  await request
  // The killed process keeps its locks until they expire. Only then does the check at the start find the rest.
  await eventually(
    async () =>
      rows("select name from leases where name like 'agent:%' and expires_at > ?", new Date().toISOString()),
    (held) => held.length === 0,
  )
  await platform.startApi()
  platform.token = await signIn(platform)
  await untilGone('qa-fork-killed')
  const again = await fork({ name: 'qa-fork-killed' }, from)
  assert.equal(again.status, 200, `${again.text}\n${platform.output().slice(-6000)}`)
  assert.equal(
    await inAgent('qa-fork-killed', 'sha256sum large.bin'),
    await inAgent(from, 'sha256sum large.bin'),
  )
})
