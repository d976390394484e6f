/**
 * 10,000 calls of 100 webhooks: a third fire, a third are repeated, a third have invalid signatures. Only the first kind
 * creates runs. Also checks the rate limit of a token. `node bench/webhooks.ts [postgres URL]`
 */
import { createHmac } from 'node:crypto'
import { Agent, request } from 'node:http'
import { loadavg } from 'node:os'
import { startPlatform } from '../checks/acceptance/platform.ts'
import { openDatabase } from '../server/src/ports/database/open.ts'
import { silentLog } from '../server/src/ports/log.ts'
import { keepBenchmark } from './keeper/index.ts'
import { ms, quantile, record, report } from './measure.ts'

await keepBenchmark()

const size = { tokens: 100, calls: 10_000, connections: 50 }
const [databaseUrl] = process.argv.slice(2)

await using platform = await startPlatform({
  env: {
    ROOST_CONTAINERS_URL: 'fake:',
    ROOST_LOG_LEVEL: 'warn',
    ROOST_QUEUE_DEPTH: '1000',
    WEBHOOK_RATE_LIMIT: '120',
    WEBHOOK_IP_RATE_LIMIT: '100000',
    ...(databaseUrl === undefined ? {} : { ROOST_DATABASE_URL: databaseUrl }),
  },
})
const hooks: { url: string; secret: string }[] = []
for (let index = 0; index < size.tokens; index += 1) hooks.push(await makeHook(`hook-${index}`))
const agent = new Agent({ keepAlive: true, maxSockets: size.connections })

const calls = Array.from({ length: size.calls }, (_, index) => {
  const hook = hooks[index % size.tokens] ?? { url: '', secret: '' }
  const turn = Math.floor(index / size.tokens)
  // Of each three calls, the second repeats the first, and the third has an invalid signature.
  const body = JSON.stringify({ context: `event ${turn - (turn % 3 === 1 ? 1 : 0)}` })
  const secret = turn % 3 === 2 ? 'whsec_wrong' : hook.secret
  return { hook, body, kind: turn % 3, secret }
})
const statuses = new Map<string, number>()
const times: number[] = []
const started = performance.now()
let next = 0
await Promise.all(
  Array.from({ length: size.connections }, async () => {
    for (let call = calls[next++]; call; call = calls[next++]) {
      const from = performance.now()
      const status = await post(call.hook.url, call.body, sign(call.secret, call.body))
      if (status === 202) times.push(performance.now() - from)
      const key = `${['first', 'again', 'bad'][call.kind]} ${status}`
      statuses.set(key, (statuses.get(key) ?? 0) + 1)
    }
  }),
)
const seconds = (performance.now() - started) / 1000
console.log(Object.fromEntries(statuses))

const firsts = calls.filter(({ kind }) => kind === 0).length
const db = await openDatabase(databaseUrl ?? `sqlite:${platform.dataDir}/roost.db`, silentLog)
const { runs } = await db
  .withTables<{ executions: { triggered_by: string } }>()
  .selectFrom('executions')
  .select((e) => e.fn.countAll<number>().as('runs'))
  .where('triggered_by', '=', 'webhook')
  .executeTakeFirstOrThrow()
await db.close()
const limited = await overLimit()
agent.destroy()

const none = { peer: 'none' }
record({
  row: 'runs too many or too few',
  ours: `${Math.abs(Number(runs) - firsts)}`,
  value: Number(runs) - firsts,
  limit: 'none',
  ok: Number(runs) === firsts,
  ...none,
})
record({
  row: '202, p99',
  ours: ms(quantile(times, 0.99)),
  value: quantile(times, 0.99),
  limit: 'at most 250 ms',
  ok: quantile(times, 0.99) <= 250,
  ...none,
})
record({
  row: 'all calls',
  ours: `${seconds.toFixed(1)} s`,
  value: seconds,
  limit: 'at most 10 s',
  ok: seconds <= 10,
  ...none,
})
record({
  row: 'let through above the limit',
  ours: `${limited}`,
  value: limited,
  limit: 'none',
  ok: limited === 0,
  ...none,
})
console.log(`load of the machine: ${loadavg()[0]?.toFixed(1)}`)
report()

/** Calls a token beyond its limit; returns how many calls were accepted above it. */
async function overLimit(): Promise<number> {
  const fresh = await makeHook('limited')
  const body = '{"context":"x"}'
  const replies = await Promise.all(
    Array.from({ length: 150 }, () => post(fresh.url, body, sign(fresh.secret, body))),
  )
  return Math.abs(replies.filter((status) => status !== 429).length - 120)
}

async function makeHook(name: string): Promise<{ url: string; secret: string }> {
  const path = `/api/agents/${name}/schedules`
  await ask('/api/agents', { name })
  const { id } = await ask(path, { name: 'hook', cron_expression: '0 3 1 1 *', message: 'look' })
  const { webhook_url } = await ask(`${path}/${id}/webhook`, {})
  const { signing_secret } = await ask(`${path}/${id}/webhook/secret`, {})
  return { url: `${platform.url}${new URL(webhook_url).pathname}`, secret: signing_secret }
}

async function ask(path: string, body: object) {
  const reply = await platform.request('POST', path, body)
  if (reply.status >= 300) throw new Error(reply.text)
  return reply.json
}

function sign(secret: string, body: string): string {
  return `sha256=${createHmac('sha256', secret).update(body).digest('hex')}`
}

function post(url: string, body: string, signature: string): Promise<number> {
  return new Promise((resolve, reject) => {
    const headers = { 'content-type': 'application/json', 'x-svc-signature': signature }
    const sent = request(url, { method: 'POST', agent, headers }, (response) => {
      response.resume()
      response.on('end', () => resolve(response.statusCode ?? 0))
    })
    sent.on('error', reject)
    sent.end(body)
  })
}
