import { setTimeout as pause } from 'node:timers/promises'
import { eventually, type Loose } from '../../checks/acceptance/platform.ts'
import { type Evidence, keyOf } from './judge.ts'
import type { Load } from './load.ts'
import { readLeftovers, readMarks, readRecords, readTranscripts } from './records.ts'
import { slotsPerAgent, type World } from './world.ts'

/** If no run ends within this time, the open ones are stuck. */
const stuckMs = 60_000
/** Number of runs whose transcripts are read. */
const sampled = 400

/** Returns the milliseconds until no run is open; stops waiting without progress. */
export async function untilQuiet(world: World): Promise<number> {
  const started = performance.now()
  let last = Number.POSITIVE_INFINITY
  let movedAt = started
  for (;;) {
    const { json } = await world.platform.request('GET', '/api/executions/stats?hours=0')
    const open = json.running_count + json.queued_count
    if (open === 0) return performance.now() - started
    if (open < last) movedAt = performance.now()
    last = open
    if (performance.now() - movedAt > stuckMs) return performance.now() - started
    await pause(250)
  }
}

/** Collects the evidence from outside after the platform is idle. Fills the slots of the agents in `filled`. */
export async function gather(
  world: World,
  load: Load,
  crashes: readonly string[],
  filled: readonly { name: string }[] = world.agents,
): Promise<Evidence> {
  const { platform } = world
  const records = (await readRecords(world)).filter(({ message }) => keyOf(message) !== '')
  const fine = records.filter(({ status }) => status === 'success').slice(0, sampled)
  const slots: Loose = (await platform.request('GET', '/api/agents/slots')).json.agents
  return {
    requests: load.requests,
    races: load.races,
    records,
    transcripts: await readTranscripts(world, fine),
    marks: await readMarks(world),
    leftovers: await readLeftovers(world),
    slots: world.agents.map(({ name }) => ({ agent: name, ...slots[name] })),
    slotsNotUsable: await unusableSlots(world.platform, filled),
    invariants: await invariants(world),
    crashes,
  }
}

/** Starts as many runs as each agent has slots; returns the agents that do not run all of them concurrently. */
async function unusableSlots(
  platform: World['platform'],
  agents: readonly { name: string }[],
): Promise<string[]> {
  const body = { message: 'slots [[sleep:8]] [[reply:used]]', async_mode: true }
  const bad: string[] = []
  for (const { name } of agents) {
    for (let count = 0; count < slotsPerAgent; count += 1)
      await platform.request('POST', `/api/agents/${name}/task`, body)
    const all = await eventually(
      async () => (await platform.request('GET', `/api/agents/${name}/executions/running`)).json.executions,
      (rows: Loose[]) => rows.filter(({ parked }) => !parked).length === slotsPerAgent,
      30_000,
    ).catch(() => null)
    if (!all) bad.push(name)
  }
  return bad
}

async function invariants({ platform }: World): Promise<Evidence['invariants']> {
  const { status, json } = await platform.request('GET', '/api/ops/invariants')
  return status === 200 ? json : null
}
