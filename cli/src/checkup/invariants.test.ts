import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { type TestContext, test } from 'node:test'
import type { InvariantsReport } from '@roost/contracts/operations/invariants'
import { freePort } from '../machine/free-port.ts'
import { checkInvariants } from './invariants.ts'
import type { Seen } from './seen.ts'

/** Not started by `roost up`, which does not keep it from being asked. */
const down: Seen = { state: 'down' }
const report: InvariantsReport = {
  checked_at: '2026-01-05T08:00:00.000Z',
  ok: true,
  read: { executions: 6, queued: 1, running: 1, terminal: 4, events: 14, schedules: 0 },
  violations: [],
}

/** A platform that answers so on its internal port. */
async function platform(t: TestContext, status: number, body: object): Promise<NodeJS.ProcessEnv> {
  const server = createServer((request, response) => {
    const isAsked = request.url === '/api/internal/invariants'
    response
      .writeHead(isAsked ? status : 404, { 'content-type': 'application/json' })
      .end(JSON.stringify(body))
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.after(() => server.close())
  // A listening TCP server has such an address.
  return { ROOST_INTERNAL_PORT: String((server.address() as AddressInfo).port) }
}

test('says what was read, and of each rule that it holds', async (t) => {
  const { read, findings } = await checkInvariants(await platform(t, 200, report), down)
  assert.match(read, /6 runs \(1 queued, 1 running, 4 ended\), 14 events, 0 schedules/)
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

test('names every violation under its rule, with what to do', async (t) => {
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
    failed.map(({ about, words }) => [about, words]),
    [['leases', 'x1: is running without lease\nx2: is running without lease']],
  )
  assert.ok(failed[0]?.advice)
})

test('a platform that does not run or fails is a failure, not a clean answer', async (t) => {
  const silent = await checkInvariants({ ROOST_INTERNAL_PORT: String(await freePort()) }, down)
  assert.deepEqual(
    [silent.findings.length, silent.findings[0]?.state, silent.read],
    [1, 'fail', 'Nothing was read.'],
  )
  assert.match(silent.findings[0]?.words ?? '', /does not answer/)
  const broken = { detail: 'Something went wrong on our side.', error: 'internal_error' }
  const failing = await checkInvariants(await platform(t, 500, broken), down)
  assert.match(failing.findings[0]?.words ?? '', /Something went wrong/)
})

test('one that starts or hangs is not waited for, and what to do about it is said', async () => {
  const running = { pid: 7, started_at: '', process_started: '', host: '127.0.0.1', port: 1, url: null }
  const starting = await checkInvariants({}, { state: 'starting', running })
  assert.deepEqual(
    [starting.read, starting.findings[0]?.words],
    ['Nothing was read.', 'is starting (process 7)'],
  )
  const why = 'no answer within 5 s'
  const silent = { state: 'silent', running, url: 'http://here', why, apiPid: '8' } as const
  const [finding] = (await checkInvariants({}, silent)).findings
  assert.equal(finding?.state, 'fail')
  assert.match(finding?.words ?? '', /does not answer at http:\/\/here: no answer within 5 s/)
  assert.match(finding?.advice ?? '', /kill -9 8/)
})
