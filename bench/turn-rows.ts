/**
 * Rows of `history.ts`: turns of one conversation in an agent whose workspace is as large, beside the same turns while
 * its history is off.
 */
import { execFile } from 'node:child_process'
import { setTimeout as sleep } from 'node:timers/promises'
import { promisify } from 'node:util'
import { eventually, type Platform, startPlatform } from '../checks/acceptance/platform.ts'
import { median, milliseconds, ms, quantile, record } from './measure.ts'

export type TurnRows = { files: number; fileBytes: number; filesPerFolder: number; rounds: number }

const run = promisify(execFile)
const agent = 'bench-history'
const changedFolders = 100
const firstRecordMs = 15 * 60_000
const recordMs = 60_000
/** The agent program tidies up its memory after a turn, for longer than a record of few changes takes. */
const pauseMs = 1000

/** `pause`: the next turn begins a second after the record of the last one; `at once`: it waits for that record. */
type Pace = 'pause' | 'at once'

export async function measureTurns({ files, fileBytes, filesPerFolder, rounds }: TurnRows): Promise<void> {
  // A base for forks is prepared in a pause of 10 s, which here comes while the history is off.
  await using platform = await startPlatform({ env: { ROOST_FORK_BASES_BYTES: '0' } })
  const created = await platform.request('POST', '/api/agents', { name: agent })
  if (created.status !== 200) throw new Error(created.text)
  await fill(platform, { files, fileBytes, filesPerFolder })
  const session = await platform.request('POST', `/api/agents/${agent}/sessions`, {})
  const path = `/api/agents/${agent}/sessions/${session.json.id}/message`
  const still = 'hello [[reply:hi]]'
  await untilRecorded(platform, await turn(platform, path, still), firstRecordMs)

  const change = changeCommand(Math.max(1, Math.floor(files / filesPerFolder / changedFolders)), fileBytes)
  for (const [what, message, limit] of [
    ['nothing changed', still, 80],
    [`${changedFolders} files changed`, `[[tool:Bash:${change}]] [[reply:hi]]`, 300],
  ] as const)
    for (const pace of ['pause', 'at once'] as Pace[]) {
      const times: Record<'on' | 'off', number[]> = { on: [], off: [] }
      for (const state of ['off', 'on', 'on', 'off'] as const) {
        await switchHistory(platform, state === 'on')
        const series = await turns(platform, { path, message, pace, rounds })
        times[state].push(...series)
      }
      const added = quantile(times.on, 0.95) - quantile(times.off, 0.95)
      const isLimited = pace === 'pause'
      record({
        row: `turns, ${what}, next turn ${pace === 'pause' ? 'after a pause' : 'at once'}, median (p95)`,
        ours: `${ms(median(times.on))} (${ms(quantile(times.on, 0.95))})`,
        peer: `${ms(median(times.off))} (${ms(quantile(times.off, 0.95))}) without history`,
        value: added,
        limit: isLimited ? `p95 at most ${limit} ms more` : 'no limit',
        ok: !isLimited || added <= limit,
      })
    }
}

/** Rewrites the first file of every so many folders. */
function changeCommand(step: number, fileBytes: number): string {
  const folders = `ls -d */*/* | awk 'NR % ${step} == 0' | head -${changedFolders}`
  const rewrite = `f=$d/$(ls $d | head -1); head -c ${fileBytes} /dev/urandom > $f`
  return `cd ~/files && ${folders} | while read d; do ${rewrite}; done`
}

async function turns(
  platform: Platform,
  { path, message, pace, rounds }: { path: string; message: string; pace: Pace; rounds: number },
): Promise<number[]> {
  const times: number[] = []
  // The first turn after the switch is not measured.
  for (let round = -1; round < rounds; round += 1) {
    let id = ''
    const took = await milliseconds(async () => {
      id = await turn(platform, path, message)
    })
    if (round >= 0) times.push(took)
    if (pace === 'pause' || round === -1) await untilRecorded(platform, id, recordMs)
    if (pace === 'pause') await sleep(pauseMs)
  }
  return times
}

/** Returns the id of its run. */
async function turn(platform: Platform, path: string, message: string): Promise<string> {
  for await (const object of platform.stream(path, { message }))
    if (object.type === 'done') {
      if (object.status !== 'success') throw new Error(JSON.stringify(object))
      return object.execution.id
    }
  throw new Error('the turn has no end')
}

async function untilRecorded(platform: Platform, id: string, timeoutMs: number): Promise<void> {
  const { json } = await eventually(
    () => platform.request('GET', `/api/executions/${id}/changes`),
    (reply) => reply.status === 200 && reply.json.status !== 'recording',
    timeoutMs,
  )
  if (!['recorded', 'skipped'].includes(json.status) && json.reason !== 'agent_timeout')
    throw new Error(`run ${id}: ${json.status}, ${json.reason}`)
}

async function switchHistory(platform: Platform, enabled: boolean): Promise<void> {
  const reply = await platform.request('PUT', `/api/agents/${agent}/history/settings`, { enabled })
  if (reply.status !== 200) throw new Error(reply.text)
}

async function fill(platform: Platform, sizes: Omit<TurnRows, 'rounds'>): Promise<void> {
  const script = `
const { mkdirSync, writeFileSync } = require('node:fs')
const { randomBytes } = require('node:crypto')
const { files, fileBytes, filesPerFolder } = ${JSON.stringify(sizes)}
for (let index = 0; index < files; index += 1) {
  const at = Math.floor(index / filesPerFolder)
  const folder = '/home/developer/files/a' + (at % 10) + '/b' + (at % 100) + '/c' + at
  if (index % filesPerFolder === 0) mkdirSync(folder, { recursive: true })
  writeFileSync(folder + '/file-' + index + '.bin', randomBytes(fileBytes))
}`
  await run('docker', ['exec', '-u', 'developer', platform.containerOf(agent), 'node', '-e', script])
}
