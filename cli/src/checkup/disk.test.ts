import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { test } from 'node:test'
import { diskText } from '../agents.ts'
import { checkDiskQuotas, diskFinding, fetchDiskReport } from './disk.ts'

test('agents with a used-up quota are named before those close to it', () => {
  const fine = diskFinding({ agents: 3, measured: 2, low: [], full: [] })
  assert.deepEqual([fine.state, fine.message], ['ok', 'no agent is close to its quota (measured: 2 of 3)'])
  const scarce = diskFinding({ agents: 3, measured: 3, low: ['ada'], full: ['bob', 'eve'] })
  assert.equal(scarce.state, 'warn')
  assert.equal(scarce.message, 'used up by bob, eve: their runs wait; more than 80 % used by ada')
})

test('the platform is asked on its internal listener, and its silence is a warning', async (t) => {
  const secret = 'the-internal-secret-of-this-installation'
  const requests: unknown[] = []
  const server = createServer(({ url, headers }, response) => {
    requests.push([url, headers.authorization])
    response.setHeader('content-type', 'application/json')
    response.end(JSON.stringify({ agents: 1, measured: 1, low: ['ada'], full: [] }))
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.after(() => server.close())
  const { port } = server.address() as AddressInfo
  const at = (port: number) => ({ ROOST_INTERNAL_PORT: String(port), ROOST_INTERNAL_SECRET: secret })
  const finding = await fetchDiskReport(at(port))
  server.closeAllConnections()
  assert.deepEqual([finding.state, finding.message], ['warn', 'more than 80 % used by ada'])
  assert.deepEqual(requests, [['/api/internal/disk', `Bearer ${secret}`]])
  const silent = await fetchDiskReport(at(9))
  assert.equal(silent.state, 'warn')
  assert.match(silent.message, /could not be checked/)
  assert.equal((await checkDiskQuotas({}, { state: 'down' })).state, 'ok')
})

test('an agent is shown with usage, quota and what they mean', () => {
  const quota_bytes = 50_000_000
  const cases = [
    [{ used_bytes: null, quota_bytes, state: 'ok' }, /^not measured yet \(quota 47\.7 MB\)$/],
    [{ used_bytes: 45_000_000, quota_bytes, state: 'low' }, /; almost full\)$/],
    [{ used_bytes: 60_000_000, quota_bytes, state: 'full' }, /; full: new runs wait\)$/],
    [{ used_bytes: 60_000_000, quota_bytes: 0, state: 'ok' }, /^57\.2 MB \(no quota\)$/],
  ] as const
  for (const [usage, expected] of cases) assert.match(diskText(usage), expected)
})
