/** Forks of an agent in real containers: the same tree, a source that does not notice, and nothing left of a failure. */
import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { join, resolve } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { after, before, test } from 'node:test'
import { promisify } from 'node:util'
import { eventually, type Loose, type Platform, startPlatform } from './platform.ts'
import { createAgent, docker, isOver, untilExecution } from './steps.ts'

const run = promisify(execFile)
const source = 'qa-fork-source'
const canary = 'canary-of-the-forked-agent'
let platform: Platform
before(async () => {
  platform = await startPlatform()
  await createAgent(platform, source, { custom_instructions: 'Be brief.', tags: ['forked'] })
  assert.equal(await inAgent(source, oddFiles), '')
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
const write = async (content: string) =>
  assert.equal(await inAgent(source, `printf '${content}' > random.bin`), '')
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

async function volumesOf(name: string): Promise<string> {
  return docker('volume', 'ls', '-q', '--filter', `name=agent-${name}-`)
}

test('a fork from now has the tree of its running source, without credentials or copies of them', async () => {
  const before = await inAgent(source, listing())
  const reply = await fork({ name: 'qa-fork-now' })
  assert.equal(reply.status, 200, reply.text)
  assert.match(reply.json.warnings.join(' '), /"\.env".*"copy-of-env"/)
  assert.equal(await inAgent('qa-fork-now', listing()), await inAgent(source, listing(secrets)))
  assert.equal(await inAgent('qa-fork-now', `grep -rl ${canary} . 2>/dev/null || true`), '')
  assert.equal(await inAgent(source, listing()), before, 'the source is as it was')
  const { custom_instructions, tags, forked_from } = await details('qa-fork-now')
  assert.deepEqual([custom_instructions, tags], ['Be brief.', ['forked']])
  assert.deepEqual([forked_from.agent_name, forked_from.can_open], [source, true])
})

test('with credentials, the tree is byte-equal; the fork works and is recorded apart from its source', async () => {
  const reply = await fork({ name: 'qa-fork-whole', with_credentials: true })
  assert.equal(reply.status, 200, reply.text)
  assert.equal(await inAgent('qa-fork-whole', listing()), await inAgent(source, listing()))
  const before = (await recordsOf(source)).length
  const task = await platform.request('POST', agents('qa-fork-whole', '/task'), {
    message: '[[tool:Bash:echo changed > run.sh; rm -rf project]] [[reply:ok]]',
  })
  assert.equal(task.status, 200, task.text)
  assert.equal(await inAgent(source, 'head -c 3 run.sh; ls project/.git/HEAD'), '#!/project/.git/HEAD\n')
  const changes = await eventually(
    async () => (await platform.request('GET', `/api/executions/${task.json.execution_id}/changes`)).json,
    ({ status }) => status === 'recorded',
  )
  const changed = changes.changes.map(({ path, change }: Loose) => `${change} ${path}`)
  assert.ok(changed.includes('changed run.sh'), changed.join(', '))
  assert.equal((await recordsOf(source)).length, before)
})

test('a fork of an old record, through the command line; it outlives its source', async () => {
  await write('old')
  assert.equal((await fork({ name: 'qa-fork-old' })).status, 200)
  const [record] = await recordsOf(source)
  await write('new')
  const { stdout } = await run(
    join(resolve(import.meta.dirname, '../..'), 'roost'),
    ['agents', 'fork', source, 'qa-fork-cli', '--at', String(record?.number)],
    { env: { ...process.env, ROOST_URL: platform.url, ROOST_KEY: platform.token } },
  )
  assert.match(stdout, /qa-fork-cli is running\./)
  assert.equal(await inAgent('qa-fork-cli', 'cat random.bin'), 'old')
  assert.equal((await platform.request('DELETE', agents(source))).status, 200)
  assert.equal(await inAgent('qa-fork-cli', 'cat random.bin'), 'old')
  assert.deepEqual((await details('qa-fork-cli')).forked_from.can_open, false)
  const second = await fork({ name: 'qa-fork-second' }, 'qa-fork-cli')
  assert.equal(second.status, 200, second.text)
  assert.equal(await inAgent('qa-fork-second', 'cat random.bin'), 'old')
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
    (text) => text === 'begun\n',
  )
  const reply = await fork({ name: 'qa-fork-middle' }, from)
  platform.model.release('middle')
  assert.equal(reply.status, 200, reply.text)
  assert.match(reply.json.warnings.join(' '), /Runs were working/)
  assert.equal(await inAgent('qa-fork-middle', 'cat begun.txt'), 'begun\n')
  const ended = await untilExecution(platform, from, task.json.execution_id, isOver)
  assert.equal(ended.status, 'success')
})

test('a platform killed in the middle of a fork leaves nothing of it', async () => {
  const from = 'qa-fork-cli'
  assert.equal(await inAgent(from, 'head -c 60000000 /dev/urandom > large.bin'), '')
  const request = fork({ name: 'qa-fork-killed' }, from).catch(() => null)
  await eventually(
    async () => rows("select name from agents where name = 'qa-fork-killed'"),
    (found) => found.length === 1,
  )
  await platform.killApi()
  await request
  await platform.startApi()
  await eventually(
    async () => [
      ...rows("select name from agents where name = 'qa-fork-killed'"),
      (await docker('ps', '-aq', '--filter', `name=${platform.containerOf('qa-fork-killed')}`)).trim(),
      (await volumesOf('qa-fork-killed')).trim(),
    ],
    (left) => left.every((each) => each === ''),
  )
  const again = await fork({ name: 'qa-fork-killed' }, from)
  assert.equal(again.status, 200, again.text)
  assert.equal(
    await inAgent('qa-fork-killed', 'sha256sum large.bin'),
    await inAgent(from, 'sha256sum large.bin'),
  )
})
