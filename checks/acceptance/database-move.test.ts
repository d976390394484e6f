/** Moving an installation from SQLite to PostgreSQL: nothing changes for its users. */
import assert from 'node:assert/strict'
import { execFile, spawn } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { test } from 'node:test'
import { promisify } from 'node:util'
import { type Platform, signIn, startPlatform } from './platform.ts'
import { createAgent } from './steps.ts'

const server = process.env.ROOST_TEST_POSTGRES_URL
const main = join(import.meta.dirname, '../../cli/src/main.ts')
const password = randomBytes(8).toString('hex')

/** A new role and database with a password, which must not appear in any output. */
async function createDatabase(serverUrl: string): Promise<string> {
  const name = `roost_move_${randomBytes(4).toString('hex')}`
  for (const statement of [
    `create role ${name} login password '${password}'`,
    `create database ${name} owner ${name}`,
  ])
    await promisify(execFile)('psql', ['-qX', serverUrl, '-c', statement])
  const url = new URL(serverUrl)
  Object.assign(url, { username: name, password, pathname: name })
  return url.href
}

async function move(dataDir: string, to: string) {
  const env = { ...process.env, ROOST_DATABASE_MOVE_TO: to }
  const child = spawn(process.execPath, [main, 'database', 'move', '--data-dir', dataDir], { env })
  const closed = once(child, 'close')
  const [out, err, [code]] = await Promise.all([text(child.stdout), text(child.stderr), closed])
  assert.ok(!(out + err).includes(password), 'the password is not printed')
  return { code, out, err }
}

const paths = ['/agents/mover/schedules', '/agents/mover/tags', '/users', '/mcp/keys']

async function lists(platform: Platform) {
  const replies = await Promise.all(paths.map((path) => platform.request('GET', `/api${path}`)))
  const { status, json: agents, text } = await platform.request('GET', '/api/agents')
  assert.equal(status, 200, text)
  return [
    agents.map(({ name }: { name: string }) => name),
    ...replies.map(({ text }) => text.replaceAll(/"last_login_at":"[^"]*"/g, '')),
  ]
}

test('after a move from SQLite to PostgreSQL everything is as before', {
  skip: server ? false : 'needs PostgreSQL',
}, async () => {
  const fake = { ROOST_CONTAINERS_URL: 'fake:' }
  await using before = await startPlatform({ env: fake })
  await createAgent(before, 'mover')
  const schedule = { name: 'daily', message: 'hello', cron_expression: '0 3 * * *' }
  await before.request('POST', '/api/agents/mover/schedules', schedule)
  await before.request('PUT', '/api/agents/mover/tags', { tags: ['blue'] })
  const { json: key } = await before.request('POST', '/api/mcp/keys', { name: 'laptop' })
  const known = await lists(before)
  assert.match(JSON.stringify(known), /blue.*daily.*laptop|daily.*blue.*laptop/)
  const target = await createDatabase(server ?? '')

  const early = await move(before.dataDir, target)
  assert.deepEqual([early.code, /uses the source database/.test(early.err)], [1, true], early.out + early.err)
  await before.stopApi()
  const { code, out, err } = await move(before.dataDir, target)
  assert.equal(code, 0, out + err)
  assert.match(out, /\d+ tables with \d+ rows were moved and compared/)

  const env = { ...fake, ROOST_DATA_DIR: before.dataDir, ROOST_DATABASE_URL: target }
  await using after = await startPlatform({ env, password: false })
  after.token = await signIn(after)
  assert.deepEqual(await lists(after), known)
  const own = await after.request('GET', '/api/agents/mover', undefined, { token: key.api_key })
  assert.equal(own.status, 200, own.text)
})
