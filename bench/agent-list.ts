/**
 * `GET /api/agents` with 50 agents and a token check, compared with a bare Fastify route that returns the same bytes,
 * each in a separate process. Also measures the memory of the API process after the load.
 */
import { fork } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { startPlatform } from '../checks/acceptance/platform.ts'
import { keepBenchmark } from './keeper/index.ts'
import { load } from './load.ts'
import { median, ms, record, report } from './measure.ts'

await keepBenchmark()

const agents = 50
await using platform = await startPlatform({
  env: { ROOST_CONTAINERS_URL: 'fake:', ROOST_LOG_LEVEL: 'info' },
})
for (let index = 0; index < agents; index += 1) {
  const reply = await platform.request('POST', '/api/agents', {
    name: `bench-${String(index).padStart(2, '0')}`,
  })
  if (reply.status !== 200) throw new Error(reply.text)
}
const headers = { authorization: `Bearer ${platform.token}` }
const url = `${platform.url}/api/agents`
const bytes = (await platform.request('GET', '/api/agents')).text

const peer = fork(new URL('./peers/bare-fastify.ts', import.meta.url), { stdio: 'inherit' })
const peerUrl = await new Promise<string>((resolve) => {
  peer.once('message', (message) => resolve(String(message)))
  peer.send(bytes)
})

const series = { ours: [] as number[], peer: [] as number[], p99: [] as number[] }
await load(url, headers, 20, 2)
await load(peerUrl, headers, 20, 2)
for (let round = 0; round < 5; round += 1) {
  const ours = await load(url, headers, 20, 3)
  const theirs = await load(peerUrl, headers, 20, 3)
  if (ours.errors + theirs.errors > 0) throw new Error('errors under load')
  series.ours.push(ours.perSecond)
  series.peer.push(theirs.perSecond)
  series.p99.push(ours.p99)
}
peer.kill()
const [ours, theirs] = [median(series.ours), median(series.peer)]
record({
  row: `agent list, ${agents} agents, ${bytes.length} bytes, 20 connections`,
  ours: `${ours.toFixed(0)}/s`,
  peer: `${theirs.toFixed(0)}/s`,
  value: ours / theirs,
  limit: 'at least 0.6 × the peer',
  ok: ours / theirs >= 0.6,
})
const p99 = median(series.p99)
record({ row: 'agent list p99', ours: ms(p99), peer: '-', value: p99, limit: 'under 40 ms', ok: p99 < 40 })
const status = readFileSync(`/proc/${platform.apiPid()}/status`, 'utf8')
const megabytes = Number(/VmRSS:\s+(\d+)/.exec(status)?.[1]) / 1024
record({
  row: 'API process after load',
  ours: `${megabytes.toFixed(0)} MB`,
  peer: '-',
  value: megabytes,
  limit: 'under 180 MB',
  ok: megabytes < 180,
})
await platform[Symbol.asyncDispose]()
report()
