/**
 * The agent list while 50 MCP clients wait for long answers of an agent, compared with the same list without them.
 * Waiting calls must not slow down other requests.
 */
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import { startPlatform } from '../checks/acceptance/platform.ts'
import { keepBenchmark } from './keeper/index.ts'
import { load } from './load.ts'
import { median, ms, record, report } from './measure.ts'

await keepBenchmark()

const clients = 50
const rounds = 3
const seconds = 5

await using platform = await startPlatform({ env: { ROOST_LOG_LEVEL: 'info' } })
await platform.startBeside('mcp/src/start.ts')
const created = await platform.request('POST', '/api/agents', { name: 'bench-mcp' })
if (created.status !== 200) throw new Error(created.text)
const { key } = (await platform.request('POST', '/api/mcp/keys', { name: 'bench' })).json

const waiting = await Promise.all(Array.from({ length: clients }, () => connect()))
const headers = { authorization: `Bearer ${platform.token}` }
const url = `${platform.url}/api/agents`
await load(url, headers, 4, 2)

const series = { ours: [] as number[], peer: [] as number[] }
for (let round = 0; round < rounds; round += 1) {
  series.peer.push((await load(url, headers, 4, seconds)).p99)
  const calls = waiting.map((client, index) => longCall(client, `${round}-${index}`))
  series.ours.push((await load(url, headers, 4, seconds)).p99)
  await Promise.all(calls)
}
const [ours, peer] = [median(series.ours), median(series.peer)]
record({
  row: `agent list p99 while ${clients} clients wait in chat_with_agent`,
  ours: ms(ours),
  peer: `${ms(peer)} without them`,
  value: ours / peer,
  limit: 'under 60 ms',
  ok: ours < 60,
})
await Promise.all(waiting.map((client) => client.close()))
await platform[Symbol.asyncDispose]()
report()

async function connect(): Promise<Client> {
  const client = new Client({ name: 'bench', version: '1.0.0' })
  const requestInit = { headers: { authorization: `Bearer ${key}` } }
  await client.connect(new StreamableHTTPClientTransport(new URL(`${platform.url}/mcp`), { requestInit }))
  return client
}

/** Longer than the measurement: three run, the others wait in the queue or are rejected when it is full. */
async function longCall(client: Client, name: string): Promise<void> {
  const message = `[[sleep:2]] [[reply:${name}]]`
  await client.callTool({
    name: 'chat_with_agent',
    arguments: { agent_name: 'bench-mcp', message, parallel: true },
  })
}
