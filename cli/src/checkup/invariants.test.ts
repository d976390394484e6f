import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { type TestContext, test } from 'node:test'
import type { InvariantsReport } from '@roost/contracts/operations/invariants'
import { freePort } from '../machine/free-port.ts'
import { checkInvariants } from './invariants.ts'
import type { PlatformState } from './platform-state.ts'

const secret = 'the-internal-secret-of-this-installation'
const environment = (port: number) => ({ ROOST_INTERNAL_PORT: String(port), ROOST_INTERNAL_SECRET: secret })
/** A platform that `roost up` did not start; it is checked all the same. */
const down: PlatformState = { state: 'down' }
const report: InvariantsReport = {
  checked_at: '2026-01-05T08:00:00.000Z',
  ok: true,
  read: { executions: 6, queued: 1, running: 1, terminal: 4, events: 14, schedules: 0 },
  violations: [],
}

/** Starts a server with this response; returns the environment in which it is the platform's internal port. */
async function platform(t: TestContext, status: number, body: object): Promise<NodeJS.ProcessEnv> {
  const server = createServer((request, response) => {
    const isInvariants =
      request.url === '/api/internal/invariants' && request.headers.authorization === `Bearer ${secret}`
    response
      .writeHead(isInvariants ? status : 404, { 'content-type': 'application/json' })
      .end(JSON.stringify(body))
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.after(() => server.close())
  // The address of a listening TCP server is an object.
  return environment((server.address() as AddressInfo).port)
}

test('summarizes what was read, and reports each rule as satisfied', async (t) => {
  const { summary, findings } = await checkInvariants(await platform(t, 200, report), down)
  assert.match(summary, /6 runs \(1 queued, 1 running, 4 ended\), 14 events, 0 schedules/)
  assert.deepEqual(
    findings.map(({ state, about }) => [state, about]),
    [
      ['ok', 'slots'],
      ['ok', 'queues'],
      ['ok', 'leases'],
      ['ok', 'events'],
      ['ok', 'ends'],
      ['ok', 'fan-outs'],
    ],
  )
})

test('lists every violation under its rule, with advice', async (t) => {
  const violations: InvariantsReport['violations'] = [
    { rule: 'no_running_without_lease', subject: 'x1', message: 'is running without lease' },
    { rule: 'no_running_without_lease', subject: 'x2', message: 'is running without lease' },
  ]
  const { findings } = await checkInvariants(
    await platform(t, 200, { ...report, ok: false, violations }),
    down,
  )
  const failed = findings.filter(({ state }) => state === 'fail')
  assert.deepEqual(
    failed.map(({ about, message }) => [about, message]),
    [['leases', 'x1: is running without lease\nx2: is running without lease']],
  )
  assert.ok(failed[0]?.advice)
})

test('a platform that is stopped or answers with an error is a failure', async (t) => {
  const unreachable = await checkInvariants(environment(await freePort()), down)
  assert.deepEqual(
    [unreachable.findings.length, unreachable.findings[0]?.state, unreachable.summary],
    [1, 'fail', 'Nothing was read.'],
  )
  assert.match(unreachable.findings[0]?.message ?? '', /does not answer/)
  const broken = { detail: 'Something went wrong on our side.', error: 'internal_error' }
  const failing = await checkInvariants(await platform(t, 500, broken), down)
  assert.match(failing.findings[0]?.message ?? '', /Something went wrong/)
})

test('an unknown secret is a failure that names the file', async (t) => {
  const { ROOST_INTERNAL_PORT } = await platform(t, 200, report)
  const [finding] = (await checkInvariants({ ROOST_INTERNAL_PORT, ROOST_DATA_DIR: '/nonexistent' }, down))
    .findings
  assert.equal(finding?.state, 'fail')
  assert.match(finding?.message ?? '', /encryption key cannot be read: .*\/nonexistent\/encryption\.key/)
  assert.match(finding?.advice ?? '', /--data-dir/)
})

test('a platform that is starting or unresponsive is reported immediately, with advice', async () => {
  const running = { pid: 7, started_at: '', process_started: '', host: '127.0.0.1', port: 1, url: null }
  const starting = await checkInvariants({}, { state: 'starting', running })
  assert.deepEqual(
    [starting.summary, starting.findings[0]?.message],
    ['Nothing was read.', 'starting (process 7)'],
  )
  const reason = 'no answer within 5 s'
  const unresponsive = { state: 'unresponsive', running, url: 'http://here', reason, apiPid: '8' } as const
  const [finding] = (await checkInvariants({}, unresponsive)).findings
  assert.equal(finding?.state, 'fail')
  assert.match(finding?.message ?? '', /does not answer at http:\/\/here: no answer within 5 s/)
  assert.match(finding?.advice ?? '', /kill -9 8/)
})
