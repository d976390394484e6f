/**
 * A turn through Roost compared with the bare CLI in the same container and with the same scripted model server: time
 * to the first line and of the whole turn, for the first (cold) and later turns of a conversation.
 */
import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { startModelServer } from '@roost/test-support/model/index'
import { type Platform, startPlatform } from '../checks/acceptance/platform.ts'
import { keepBenchmark } from './keeper/index.ts'
import { alternate, median, ms, record, report } from './measure.ts'

await keepBenchmark()

const run = promisify(execFile)
const agent = 'bench-turns'
const message = 'hello [[reply:hi]]'

await using platform = await startPlatform()
const created = await platform.request('POST', '/api/agents', { name: agent })
if (created.status !== 200) throw new Error(created.text)
const inspected = JSON.parse((await run('docker', ['inspect', `agent-${agent}`])).stdout)[0]
const gateway =
  Object.values<{ Gateway: string }>(inspected.NetworkSettings.Networks)[0]?.Gateway ?? '127.0.0.1'
const model = await startModelServer({ host: gateway })
// The bare CLI calls the model server itself; the platform's broker does so otherwise.
await platform.request('PUT', '/api/settings/agent-defaults/network', {
  opened: [new URL(model.url).host],
})

type Times = { first: number; total: number }

/** Runs inside the container, so that the measurement excludes the engine's exec. */
const driver = `
const { spawn } = require('node:child_process')
const started = performance.now()
let first = null
const child = spawn('claude', ['-p', process.argv[1], '--output-format', 'stream-json', '--verbose', '--dangerously-skip-permissions'], { stdio: ['ignore', 'pipe', 'inherit'] })
child.stdout.on('data', () => { first ??= performance.now() - started })
child.on('exit', () => console.log(JSON.stringify({ first, total: performance.now() - started })))
`
async function bare(): Promise<Times> {
  const variables = [
    `ANTHROPIC_BASE_URL=${model.url}`,
    'ANTHROPIC_API_KEY=bench',
    'CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC=1',
    'HOME=/home/developer',
  ].flatMap((variable) => ['-e', variable])
  const { stdout } = await run('docker', [
    'exec',
    '-u',
    'developer',
    '-w',
    '/home/developer',
    ...variables,
    `agent-${agent}`,
    'node',
    '-e',
    driver,
    message,
  ])
  return JSON.parse(stdout)
}

async function turn(on: Platform, path: string): Promise<Times> {
  const started = performance.now()
  let first = 0
  for await (const object of on.stream(path, { message })) {
    if (first === 0 && object.type !== 'system') first = performance.now() - started
    if (object.type === 'system' && object.subtype === 'init') first = performance.now() - started
    if (object.type === 'done' && object.status !== 'success') throw new Error(JSON.stringify(object))
  }
  return { first, total: performance.now() - started }
}

async function newSession(): Promise<string> {
  const reply = await platform.request('POST', `/api/agents/${agent}/sessions`, {})
  return `/api/agents/${agent}/sessions/${reply.json.id}/message`
}

await bare()
await turn(platform, await newSession())

const cold: Times[] = []
const bareCold: Times[] = []
await alternate(
  9,
  async () => {
    const times = await turn(platform, await newSession())
    cold.push(times)
    return times.first
  },
  async () => {
    const times = await bare()
    bareCold.push(times)
    return times.first
  },
)
const firstOver = median(cold.map(({ first }) => first)) - median(bareCold.map(({ first }) => first))
record({
  row: 'first turn, to the first line',
  ours: ms(median(cold.map(({ first }) => first))),
  peer: ms(median(bareCold.map(({ first }) => first))),
  value: firstOver,
  limit: 'at most 50 ms over the bare CLI',
  ok: firstOver <= 50,
})
const [coldTotal, bareTotal] = [
  median(cold.map(({ total }) => total)),
  median(bareCold.map(({ total }) => total)),
]
record({
  row: 'first turn, whole',
  ours: ms(coldTotal),
  peer: ms(bareTotal),
  value: coldTotal / bareTotal,
  limit: 'at most 1.05 × the bare CLI',
  ok: coldTotal / bareTotal <= 1.05,
})

const session = await newSession()
await turn(platform, session)
const warm: Times[] = []
for (let index = 0; index < 15; index += 1) warm.push(await turn(platform, session))
const warmFirst = median(warm.map(({ first }) => first))
const bareFirst = median(bareCold.map(({ first }) => first))
record({
  row: 'later turns, to the first line',
  ours: ms(warmFirst),
  peer: ms(bareFirst),
  value: bareFirst / warmFirst,
  limit: 'at least 5 × faster than the bare CLI started per turn',
  ok: bareFirst / warmFirst >= 5,
})

const { stdout } = await run('docker', [
  'exec',
  `agent-${agent}`,
  'sh',
  '-c',
  "for p in /proc/[0-9]*; do tr '\\0' ' ' < $p/cmdline | grep -q agent/src/start.ts && grep VmRSS $p/status; done; true",
])
const megabytes = Math.max(...[...stdout.matchAll(/(\d+) kB/g)].map((match) => Number(match[1]))) / 1024
record({
  row: 'agent program, idle',
  ours: `${megabytes.toFixed(0)} MB`,
  peer: '-',
  value: megabytes,
  limit: 'under 60 MB',
  ok: megabytes < 60,
})

await model.close()
await platform[Symbol.asyncDispose]()
report()
