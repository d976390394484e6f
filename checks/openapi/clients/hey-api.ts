/** Calls with the client of @hey-api/openapi-ts; compiled and run by `clients.test.ts`. */
import { argv } from 'node:process'
import { client } from './hey-api/client.gen.js'
import {
  createAgent,
  createSchedule,
  deleteAgent,
  exportAuditLog,
  getAgent,
  getScheduleAnalytics,
  getSetupStatus,
  listAgentExecutions,
  listAgents,
} from './hey-api/sdk.gen.js'
import type { Agent, Schedule } from './hey-api/types.gen.js'

const [baseUrl = '', token = ''] = argv.slice(2)
client.setConfig({ baseUrl, auth: token })
const results: Record<string, unknown> = {}
const name = 'heyed'

const status = await getSetupStatus()
results.isSetUp = status.data?.setup_completed

const create = () =>
  createAgent({ headers: { 'Idempotency-Key': 'hey-1' }, body: { name, tags: ['made-there'] } })
const created = await create()
results.created = created.data?.name
const again = await create()
results.replay = [again.data?.name, again.response?.headers.get('x-idempotent-replay')]

const agents: Agent[] = (await listAgents({ query: { tags: 'made-there' } })).data ?? []
results.listed = agents.map((agent) => agent.name)

const executions = await listAgentExecutions({
  path: { name },
  query: { limit: 5, offset: 0, of_schedules: true },
})
results.executions = executions.data?.length

const scheduled = await createSchedule({
  path: { name },
  body: { name: 'Nightly', cron_expression: '0 3 * * *', message: 'Look around.' },
})
const schedule: Schedule | undefined = scheduled.data
results.schedule = [scheduled.response?.status, schedule?.cron_expression]

const analytics = await getScheduleAnalytics({
  path: { name, id: schedule?.id ?? '' },
  query: { window_hours: 24 },
})
results.window = analytics.data?.window_hours

const entries = await exportAuditLog({ query: { format: 'json' } })
results.audited =
  Array.isArray(entries.data) && entries.data.some(({ event_action }) => event_action === 'create')
const sheet = await exportAuditLog({ query: { format: 'csv' }, parseAs: 'text' })
results.csv = String(sheet.data).startsWith('id,')

const missing = await getAgent({ path: { name: 'nobody' } })
results.missing = missing.error && [missing.response?.status, missing.error.error]

const refused = await listAgentExecutions({ path: { name }, query: { limit: 0 } })
const [issue] = Array.isArray(refused.error?.detail) ? refused.error.detail : []
results.refused = issue?.loc

const deleted = await deleteAgent({ path: { name } })
results.deleted = deleted.response?.status

console.log(JSON.stringify(results))
