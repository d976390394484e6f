import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { type TestContext, test } from 'node:test'
import { type Command, UsageError } from './command.ts'
import { notifications } from './notifications.ts'
import { reports } from './reports.ts'

const created_at = '2030-01-01T00:00:00.000Z'
const notification = {
  id: 'n1',
  agent_name: 'scout',
  notification_type: 'alert',
  title: 'Disk \u001b[31mfull',
  message: null,
  priority: 'urgent',
  category: null,
  metadata: null,
  status: 'pending',
  created_at,
  acknowledged_at: null,
  acknowledged_by: null,
}
const report = {
  id: 'r1',
  agent_name: 'scout',
  report_type: 'sales.weekly',
  title: 'Week 3',
  display_hint: null,
  period_start: null,
  period_end: null,
  audience: 'operator',
  execution_id: null,
  payload_bytes: 10,
  created_at,
}

/** Serves these routes; returns the recorded requests and a function that runs a command against the server. */
async function serve(t: TestContext, routes: Record<string, unknown>) {
  const requests: string[] = []
  const server = createServer((request, response) => {
    const { method = '', url = '' } = request
    requests.push(`${method} ${url}`)
    const body = routes[`${method} ${url.split('?', 1)[0]}`]
    response.writeHead(body === undefined ? 404 : 200, { 'content-type': 'application/json' })
    response.end(JSON.stringify(body ?? { detail: 'Not found.', error: 'not_found' }))
  })
  await once(server.listen(0, '127.0.0.1'), 'listening')
  const { port } = server.address() as AddressInfo
  process.env.ROOST_URL = `http://127.0.0.1:${port}`
  process.env.ROOST_KEY = 'svc_mcp_test'
  let stdout = ''
  t.mock.method(console, 'log', (text: string) => {
    stdout += text
  })
  t.mock.method(console, 'error', () => {})
  return {
    requests,
    async roost(command: Command, ...args: string[]) {
      stdout = ''
      const code = await command.run(args)
      return { code, stdout }
    },
    async [Symbol.asyncDispose]() {
      server.closeAllConnections()
      await new Promise<void>((resolve) => server.close(() => resolve()))
    },
  }
}

test('notifications: pending ones by default, filtered on request, without control characters from agents', async (t) => {
  await using platform = await serve(t, {
    'GET /api/notifications': { count: 1, notifications: [notification] },
    'POST /api/notifications/n1/acknowledge': { ...notification, status: 'acknowledged' },
    'POST /api/notifications/n1/dismiss': { ...notification, status: 'dismissed' },
    'POST /api/notifications/dismiss-all': { dismissed: 3 },
  })
  const { roost, requests } = platform
  const list = await roost(notifications)
  assert.match(list.stdout, /n1 +scout +alert +urgent +pending .*Disk \[31mfull/)
  assert.ok(!list.stdout.includes('\u001b'))
  await roost(notifications, 'scout', '--status', 'all', '--limit', '5')
  assert.deepEqual(requests, [
    'GET /api/notifications?status=pending&limit=50',
    'GET /api/notifications?agent_name=scout&limit=5',
  ])
  assert.equal((await roost(notifications, 'acknowledge', 'n1')).stdout, 'acknowledged')
  assert.equal((await roost(notifications, 'dismiss', 'n1')).stdout, 'dismissed')
  assert.equal((await roost(notifications, 'dismiss-all')).stdout, '3 dismissed')
  assert.equal((await roost(notifications, 'dismiss', 'none')).code, 4)
  await assert.rejects(roost(notifications, '--status', 'open'), UsageError)
})

test('reports: lists reports and shows one with its text or data', async (t) => {
  await using platform = await serve(t, {
    'GET /api/reports': [report],
    'GET /api/reports/r1': { ...report, payload: { sold: 7 } },
    'GET /api/reports/r2': { ...report, payload: '# Sold\n\n7 \u001b[2Jpieces' },
  })
  const { roost, requests } = platform
  assert.match(
    (await roost(reports, 'scout', '--type', 'sales.weekly')).stdout,
    /r1 +scout +sales\.weekly .*Week 3/,
  )
  assert.deepEqual(requests, ['GET /api/reports?agent_name=scout&report_type=sales.weekly&limit=50'])
  assert.match((await roost(reports, 'show', 'r1')).stdout, /title: +Week 3[\s\S]*"sold": 7/)
  assert.match((await roost(reports, 'show', 'r2')).stdout, /# Sold\n\n7 \[2Jpieces/)
  assert.deepEqual(JSON.parse((await roost(reports, 'show', 'r1', '--json')).stdout).payload, { sold: 7 })
  assert.equal((await roost(reports, 'show', 'none')).code, 4)
})
