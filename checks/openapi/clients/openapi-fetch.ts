/** Calls with the client of openapi-typescript and openapi-fetch; compiled and run by `clients.test.ts`. */
import { argv } from 'node:process'
import createClient from 'openapi-fetch'
import type { components, paths } from './openapi-fetch/schema.js'

type Agent = components['schemas']['Agent']
type Schedule = components['schemas']['Schedule']

const [baseUrl = '', token = ''] = argv.slice(2)
const client = createClient<paths>({ baseUrl, headers: { authorization: `Bearer ${token}` } })
const results: Record<string, unknown> = {}
const name = 'fetched'

const status = await client.GET('/api/setup/status')
results.isSetUp = status.data?.setup_completed

const create = () =>
  client.POST('/api/agents', {
    params: { header: { 'Idempotency-Key': 'fetch-1' } },
    body: { name, tags: ['made-here'] },
  })
const created = await create()
results.created = created.data?.name
const again = await create()
results.replay = [again.data?.name, again.response.headers.get('x-idempotent-replay')]

const agents: Agent[] =
  (await client.GET('/api/agents', { params: { query: { tags: 'made-here' } } })).data ?? []
results.listed = agents.map((agent) => agent.name)

const executions = await client.GET('/api/agents/{name}/executions', {
  params: { path: { name }, query: { limit: 5, offset: 0, of_schedules: true } },
})
results.executions = executions.data?.length

const scheduled = await client.POST('/api/agents/{name}/schedules', {
  params: { path: { name } },
  body: { name: 'Nightly', cron_expression: '0 3 * * *', message: 'Look around.' },
})
const schedule: Schedule | undefined = scheduled.data
results.schedule = [scheduled.response.status, schedule?.cron_expression]

const analytics = await client.GET('/api/agents/{name}/schedules/{id}/analytics', {
  params: { path: { name, id: schedule?.id ?? '' }, query: { window_hours: 24 } },
})
results.window = analytics.data?.window_hours

const entries = await client.GET('/api/audit-log/export', { params: { query: { format: 'json' } } })
results.audited =
  Array.isArray(entries.data) && entries.data.some(({ event_action }) => event_action === 'create')
const sheet = await client.GET('/api/audit-log/export', {
  params: { query: { format: 'csv' } },
  parseAs: 'text',
})
results.csv = String(sheet.data).startsWith('id,')

const missing = await client.GET('/api/agents/{name}', { params: { path: { name: 'nobody' } } })
results.missing = missing.error && [missing.response.status, missing.error.error]

const refused = await client.GET('/api/agents/{name}/executions', {
  params: { path: { name }, query: { limit: 0 } },
})
const [issue] = Array.isArray(refused.error?.detail) ? refused.error.detail : []
results.refused = issue?.loc

const deleted = await client.DELETE('/api/agents/{name}', { params: { path: { name } } })
results.deleted = deleted.response.status

console.log(JSON.stringify(results))
