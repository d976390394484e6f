/**
 * What an installation needs: memory of the platform's processes with more and more agents, of an idle agent, of a turn
 * that is running, and disk space. `node bench/sizing.ts [agents]`. It has no peer and no limits.
 */
import { execFile } from 'node:child_process'
import { readFile } from 'node:fs/promises'
import { setTimeout as pause } from 'node:timers/promises'
import { promisify } from 'node:util'
import { eventually, type Platform, startPlatform } from '../checks/acceptance/platform.ts'
import { answerOf, beginTurn, createAgent } from '../checks/acceptance/steps.ts'
import { keepBenchmark } from './keeper/index.ts'
import { median } from './measure.ts'
import { memoryOf } from './turn-cost/memory.ts'

await keepBenchmark()

const run = promisify(execFile)
const most = Number(process.argv[2] ?? 20)
const runtimes = ['claude-code', 'gemini-cli', 'codex'] as const
/** After this time an agent has started, and has freed the memory of its start. */
const idleMs = 5000

await using platform = await startPlatform()
const scheduler = await platform.startBeside('server/src/start/scheduler.ts')
const mcp = await platform.startBeside('mcp/src/start.ts')
await eventually(
  async () => platform.request('GET', '/health/ready'),
  ({ status }) => status === 200,
)

await showProcesses('no agent')
for (const runtime of runtimes) await showTurn(runtime)
await showAgents()
await showDisk()

function show(what: string, value: number, unit: string): void {
  console.log(`${what}: ${value.toFixed(0)} ${unit}`)
}

async function showProcesses(when: string): Promise<void> {
  await pause(idleMs)
  const pids = { API: platform.apiPid(), scheduler: scheduler.pid, 'MCP server': mcp.pid }
  for (const [name, pid] of Object.entries(pids)) show(`${name}, ${when}`, await residentMegabytes(pid), 'MB')
}

async function residentMegabytes(pid: number): Promise<number> {
  const status = await readFile(`/proc/${pid}/status`, 'utf8')
  return Number(/^VmRSS:\s+(\d+) kB/m.exec(status)?.[1]) / 1024
}

/** The difference that a turn makes, while the CLI waits for the model. */
async function showTurn(runtime: (typeof runtimes)[number]): Promise<void> {
  const agent = `size-${runtime}`
  await createAgent(platform, agent, runtime === 'codex' ? { template: 'codex-assistant' } : { runtime })
  await answerOf(platform, agent, 'hello')
  const container = platform.containerOf(agent)
  await restart(platform, agent)
  const idle = await memoryOf(container)
  show(`${runtime}, idle agent`, idle.processes, 'MB')
  const turn = await beginTurn(platform, agent, `[[hold:${agent}]]`)
  await eventually(
    async () =>
      platform.model.requests.filter(({ ended, kind }) => kind === 'main' && ended === 'open').length,
    (open) => open > 0,
  )
  await pause(idleMs)
  const busy = await memoryOf(container)
  show(`${runtime}, one turn more`, busy.processes - idle.processes, 'MB')
  platform.model.release(agent)
  await turn.ended
  await platform.request('DELETE', `/api/agents/${agent}`)
}

async function restart({ request }: Platform, agent: string): Promise<void> {
  await request('POST', `/api/agents/${agent}/stop`)
  await request('POST', `/api/agents/${agent}/start`)
  await eventually(
    () => request('GET', `/api/agents/${agent}/files`),
    ({ status }) => status === 200,
  )
  await pause(idleMs)
}

async function showAgents(): Promise<void> {
  const names = Array.from({ length: most }, (_, index) => `size-${index + 1}`)
  for (const name of names) await createAgent(platform, name)
  for (const name of names) await answerOf(platform, name, 'hello')
  await pause(idleMs)
  await showProcesses(`${most} agents`)
  const memory = await Promise.all(names.map((name) => memoryOf(platform.containerOf(name))))
  show(`one of ${most} agents after its first turn`, median(memory.map(({ processes }) => processes)), 'MB')
}

async function showDisk(): Promise<void> {
  const { stdout } = await run('docker', ['system', 'df', '-v', '--format', '{{json .Images}}'])
  type Image = { Repository: string; Tag: string; UniqueSize: string; SharedSize: string }
  for (const { Repository, Tag, UniqueSize, SharedSize } of JSON.parse(stdout) as Image[])
    if (Repository.startsWith('roost-'))
      console.log(`${Repository}:${Tag}: ${UniqueSize}, shared ${SharedSize}`)
  const used = await run('du', ['-sm', platform.dataDir])
  console.log(`data folder: ${used.stdout.split('\t')[0]} MB`)
}
