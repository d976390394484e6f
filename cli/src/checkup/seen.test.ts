import assert from 'node:assert/strict'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { freePort } from '../machine/free-port.ts'
import { takeUpLock } from '../machine/lock.ts'
import { checkPlatform } from './platform.ts'
import { seePlatform } from './seen.ts'

/** A data folder of a `roost up` that is this process; `reply` null: it hangs. */
async function installation(t: TestContext, reply: { status: number; body: object } | null) {
  const server = createServer((_, response) => {
    if (reply) response.writeHead(reply.status).end(JSON.stringify(reply.body))
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  // A listening TCP server has such an address.
  const { port } = server.address() as AddressInfo
  const dataDir = await mkdtemp(join(tmpdir(), 'roost-seen-'))
  const lock = await takeUpLock(dataDir, { host: '127.0.0.1', port })
  assert.ok('release' in lock)
  t.after(async () => {
    server.closeAllConnections()
    server.close()
    await lock.release()
    await rm(dataDir, { recursive: true, force: true })
  })
  return { env: { ROOST_DATA_DIR: dataDir, ROOST_INTERNAL_PORT: String(port) }, lock }
}

test('one that is not there, one that starts, one that answers', async (t) => {
  const { env, lock } = await installation(t, {
    status: 200,
    body: { migrations: { applied: 2, expected: 2 } },
  })
  assert.equal((await seePlatform({ ROOST_DATA_DIR: '/nonexistent/roost' })).state, 'down')
  assert.equal((await seePlatform(env)).state, 'starting')
  await lock.ready('http://here')
  const seen = await seePlatform(env)
  assert.equal(seen.state, 'answers')
  const [platform] = await checkPlatform(env, seen)
  assert.equal(platform?.words, 'healthy at http://here, 2 of 2 migrations applied')
})

test('while it starts, neither its ports nor its processes are missed', async (t) => {
  const { env } = await installation(t, null)
  const findings = await checkPlatform(
    { ...env, ROOST_INTERNAL_PORT: String(await freePort()) },
    await seePlatform(env),
  )
  assert.deepEqual(
    findings.map(({ state, about }) => [state, about]),
    [
      ['warn', 'platform'],
      ['ok', 'public port'],
      ['ok', 'internal port'],
    ],
  )
})

test('one that hangs is given up on, and named as a failure', async (t) => {
  const { env, lock } = await installation(t, null)
  await lock.ready('http://here')
  const seen = await seePlatform(env, 50)
  assert.equal(seen.state, 'silent')
  const [platform] = await checkPlatform(env, seen)
  assert.equal(platform?.state, 'fail')
  assert.match(platform?.words ?? '', /does not answer at http:\/\/here: no answer within/)
})

test('what answers and is unwell says so', async (t) => {
  const { env, lock } = await installation(t, {
    status: 503,
    body: { detail: 'The database cannot be reached.' },
  })
  await lock.ready('http://here')
  const [platform] = await checkPlatform(env, await seePlatform(env))
  assert.deepEqual(
    [platform?.state, platform?.words],
    ['fail', 'answers 503: The database cannot be reached.'],
  )
})
