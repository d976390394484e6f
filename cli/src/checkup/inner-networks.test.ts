import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { test } from 'node:test'
import { checkInnerNetworks, fetchInnerNetworks, innerNetworksFinding } from './inner-networks.ts'

const problem =
  'Agents reach private networks, metadata services and this machine, because nftables cannot be run. Install the package nftables.'

test('closed networks are fine, with their exceptions', () => {
  const closed = { opened: [], is_closed: true, problem: null }
  assert.deepEqual(innerNetworksFinding(closed).message, 'closed to agents')
  const some = innerNetworksFinding({ ...closed, opened: ['10.0.0.5:443', '10.1.0.0/16'] })
  assert.deepEqual([some.state, some.message], ['ok', 'closed to agents, except 10.0.0.5:443, 10.1.0.0/16'])
})

test('open networks are a warning with the reason and the remedy', () => {
  const finding = innerNetworksFinding({ opened: [], is_closed: false, problem })
  assert.equal(finding.state, 'warn')
  assert.match(finding.message, /because nftables cannot be run$/)
  assert.match(JSON.stringify(finding), /"Install the package nftables\."/)
})

test('the platform is asked on its internal listener, and its silence is a warning', async (t) => {
  const secret = 'the-internal-secret-of-this-installation'
  const requests: unknown[] = []
  const server = createServer(({ url, headers }, response) => {
    requests.push([url, headers.authorization])
    response.setHeader('content-type', 'application/json')
    response.end(JSON.stringify({ opened: [], is_closed: false, problem }))
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.after(() => server.close())
  const { port } = server.address() as AddressInfo
  const at = (port: number) => ({ ROOST_INTERNAL_PORT: String(port), ROOST_INTERNAL_SECRET: secret })
  assert.match((await fetchInnerNetworks(at(port))).message, /nftables cannot be run/)
  server.closeAllConnections()
  assert.deepEqual(requests, [['/api/internal/inner-networks', `Bearer ${secret}`]])
  assert.match((await fetchInnerNetworks(at(9))).message, /could not be checked/)
  assert.equal((await checkInnerNetworks({}, { state: 'down' })).state, 'ok')
})
