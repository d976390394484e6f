/**
 * Kills the platform, the agent and the container engine while a workspace is recorded or restored. Afterwards the
 * workspace must be the old or the new one, as the record or the restore says, and never a mixture.
 * `node bench/history-kills.ts [rounds] [files] [seed]`. With `replacing` before the rounds, it strikes while the agent
 * replaces files. Requires root and `dockerd`. Exit code 1 for any violation.
 */
import { execFile } from 'node:child_process'
import { closeSync, existsSync, openSync, readSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { setTimeout as pause } from 'node:timers/promises'
import { promisify } from 'node:util'
import { eventually, type Loose, type Platform, startPlatform } from '../checks/acceptance/platform.ts'
import { createAgent } from '../checks/acceptance/steps.ts'
import { apart, buildImages, type Engine, openEngine } from './chaos/engine.ts'
import { createChance } from './chaos/random.ts'
import { untilReachable } from './chaos/world.ts'
import { keepBenchmark } from './keeper/index.ts'

await keepBenchmark({ through: apart, prepare: buildImages })

const run = promisify(execFile)
const isReplacing = process.argv[2] === 'replacing'
const [rounds = isReplacing ? 45 : 30, files = isReplacing ? 20_000 : 2000, seed = Date.now() % 1_000_000] =
  process.argv.slice(isReplacing ? 3 : 2).map(Number)
const chance = createChance(seed)
const agent = 'history-kills'
const restores = `/api/agents/${agent}/history/restores`
const limitMs = 240_000
const victims = ['platform', 'agent', 'engine'] as const
type Victim = (typeof victims)[number]
type Result = Record<string, number>

const results: Record<string, Result> = {}
const violations: string[] = []
let engine: Engine
let platform: Platform
try {
  engine = await openEngine()
  platform = await startPlatform({
    env: { ROOST_CONTAINERS_URL: engine.url, ROOST_LOG_LEVEL: 'info' },
  })
  // Sessions end with the process; a key stays.
  platform.token = (await request('POST', '/api/mcp/keys', { name: 'kills' })).key
  await createAgent(platform, agent)
  await untilReachable(platform, [{ name: agent }], limitMs)
  await change(0, null)
  if (isReplacing) await killWhileReplacing()
  for (let round = 1; round <= rounds && !isReplacing; round += 1) {
    const victim = victims[round % victims.length] ?? 'platform'
    await killWhileRecording(round, victim)
    await killWhileRestoring(round, victim)
    console.log(`round ${round}, ${victim} killed`)
  }
  console.table(results)
  console.log(`seed ${seed}, ${rounds} rounds, ${files} files, ${violations.length} violations`)
  for (const violation of violations) console.log(violation)
} catch (error) {
  violations.push(String(error))
  console.error(error)
}
// The keeper ends the engine and the platform with their namespace, and removes their folders.
process.exit(violations.length > 0 ? 1 : 0)

/** The record of a run that is struck at its beginning or end. What it recorded must be what was there. */
async function killWhileRecording(round: number, victim: Victim): Promise<void> {
  const before = await digest()
  const id = await change(round, victim)
  const after = await digest()
  const row = rows('select * from run_workspace_records where execution_id = ?', id ?? '')[0]
  count(`record, ${victim}`, row ? `${row.outcome} ${row.reason ?? ''}` : 'none')
  if (row?.outcome !== 'recorded') {
    if (row && !row.reason) violate(round, victim, 'a run without records has no reason')
    return
  }
  await restore({ run: id, side: 'before' })
  if ((await digest()) !== before) violate(round, victim, 'the record before the run is not its workspace')
  await restore({ run: id, side: 'after' })
  if ((await digest()) !== after) violate(round, victim, 'the record after the run is not its workspace')
}

async function killWhileRestoring(round: number, victim: Victim): Promise<void> {
  const id = await change(round + 0.5, null)
  const old = await digest()
  const begun = await request('POST', restores, { run: id, side: 'before', when_busy: 'wait' })
  await pause(chance.between(0, 1500))
  await strike(victim)
  const ended = await endOf(begun.id)
  const found = await digest()
  count(`restore, ${victim}`, `${ended.state} ${ended.reason ?? ''}`)
  if (ended.state === 'restored') {
    // The way back shows the old workspace, so the new one has no file of it.
    await restore({ record: ended.undo_record })
    if ((await digest()) !== old) violate(round, victim, 'the record before the restore is not its workspace')
    await restore({ run: id, side: 'before' })
    if ((await digest()) !== found) violate(round, victim, 'a restored workspace is not that of the record')
  } else if (found !== old) violate(round, victim, `${ended.state}, but the workspace changed`)
}

/** Restores two workspaces in turn, without a common file. A restore that has begun to replace files is completed. */
async function killWhileReplacing(): Promise<void> {
  const old = await digest()
  const id = await change(0.5, null)
  let [current, other] = [await digest(), old]
  const [before, after] = [`before_id`, `after_id`].map(
    (column) =>
      rows(`select ${column} as id from run_workspace_records where execution_id = ?`, id ?? '')[0]?.id,
  )
  const recordOf: Record<string, string> = { [old]: before, [current]: after }
  // The first restore creates the journal.
  for (const record of [before, after]) await restore({ record })
  const journal = await journalOf()
  let replacingMs = 0
  for (let round = 0; round <= rounds; round += 1) {
    const begun = await request('POST', restores, { record: recordOf[other], when_busy: 'wait' })
    while (phaseOf(journal, begun.id) !== 'applying') {
      if ((await request('GET', `${restores}/${begun.id}`)).ended_at !== null) break
      await pause(2)
    }
    const began = Date.now()
    const victim = round === 0 ? null : (victims[round % victims.length] ?? 'platform')
    let phase: string | null = null
    if (victim) {
      // The container dies when the daemon is back, some seconds later.
      await pause(chance.between(0, victim === 'engine' ? 100 : replacingMs))
      await strike(victim, () => (phase = phaseOf(journal, begun.id)))
    } else {
      while (phaseOf(journal, begun.id) === 'applying') await pause(2)
      replacingMs = Date.now() - began
      console.log(`${files} files are replaced in ${replacingMs} ms`)
    }
    const { state, reason, undo_record } = await endOf(begun.id)
    const found = await digest()
    const wasStruck = phase === 'applying'
    const name = victim ?? 'platform'
    if (victim) {
      count(`replace, ${victim}`, wasStruck ? 'struck while replacing' : `struck at ${phase}`)
      count(`replace, ${victim}`, `${state} ${reason ?? ''}`)
      console.log(`round ${round}, ${victim} killed at ${phase}: ${state}`)
    }
    if (wasStruck && state !== 'restored') violate(round, name, `${state}, after files were replaced`)
    if (found !== (state === 'restored' ? other : current)) violate(round, name, `${state}, but a mixture`)
    if (state !== 'restored') continue
    // The record before this restore is the way back.
    recordOf[current] = undo_record
    ;[current, other] = [other, current]
  }
}

/** The file in which the agent keeps the steps of a restore. */
async function journalOf(): Promise<string> {
  const { stdout } = await docker(
    ...['inspect', '--format', '{{range .Mounts}}{{println .Source}}{{end}}', platform.containerOf(agent)],
  )
  const { stdout: found } = await run('find', [
    ...stdout.split('\n').filter((folder) => folder !== ''),
    ...['-path', '*/restore/journal'],
  ])
  const [file] = found.split('\n')
  if (!file || !existsSync(file)) throw new Error('The agent has no journal.')
  return file
}

/** Null for another restore. */
function phaseOf(journal: string, id: string): string | null {
  try {
    const file = openSync(journal, 'r')
    const head = Buffer.alloc(300)
    const text = head.toString('utf8', 0, readSync(file, head, 0, head.length, 0))
    closeSync(file)
    return text.includes(`"id":"${id}"`) ? (/"phase":"(\w+)"/.exec(text)?.[1] ?? null) : null
  } catch {
    return null
  }
}

/** A run that changes a third of the files. Returns its id once its records have an outcome; null if none was made. */
async function change(version: number, victim: Victim | null): Promise<string | null> {
  const even = Math.round(version * 2) % 2 === 0
  // Few contents are sent fast, so that most of a restore replaces files.
  const content = isReplacing ? `v${version} $((i % 40))` : `v${version} $i`
  const script = [
    'mkdir -p work && cd work && mkdir -p $(seq -f d%g 0 39)',
    `for i in $(seq ${isReplacing ? 0 : Math.round(version * 2) % 3} ${version === 0 || isReplacing ? 1 : 3} ${files}); do echo ${content} > d$((i % 40))/f$i; done`,
    `rm -rf swap; ${even ? 'mkdir swap; echo in > swap/in' : 'echo file > swap'}`,
    `ln -sfn d${Math.round(version * 2) % 40} link; chmod ${even ? 600 : 755} d0/f0`,
    `mv d1 d-moved; mv d-moved d1; rm -f d2/f2 d3/f3; mkdir -p empty${Math.round(version * 2) % 5}`,
    `head -c ${isReplacing ? 2_000_000 : 20_000_000} /dev/urandom > large`,
  ].join('; ')
  const hold = `kills-${version}`
  const message = `[[tool:Bash:${script}]] [[hold:${hold}]] [[reply:ok]]`
  const { execution_id: id } = await request('POST', `/api/agents/${agent}/task`, {
    message,
    async_mode: true,
  })
  const isEarly = victim !== null && chance.between(0, 3) < 1
  if (isEarly) {
    await pause(chance.between(0, 1500))
    await strike(victim)
  }
  const held = async () =>
    platform.model.requests.some(
      ({ kind, ended, directives }) => kind === 'main' && ended === 'open' && directives.includes('hold'),
    )
  const state = async () => (await request('GET', `/api/executions/${id}`)).status as string
  const isOver = (status: string) => !['queued', 'pending', 'running'].includes(status)
  if (!isEarly) await eventually(held, (is) => is, limitMs)
  platform.model.release(hold)
  if (victim && !isEarly) {
    await pause(chance.between(0, 1500))
    await strike(victim)
  }
  await eventually(state, isOver, limitMs)
  await eventually(
    async () => rows('select * from run_workspace_records where execution_id = ?', id)[0],
    (row) => row !== undefined && row.outcome !== 'recording',
    limitMs,
  )
  return id
}

/** `struck` is called when the victim is dead. With the engine: when the container has ended, or the daemon is back. */
async function strike(victim: Victim, struck = () => {}): Promise<void> {
  if (victim === 'platform') {
    await platform.killApi()
    struck()
    await pause(chance.between(0, 500))
    await platform.startApi()
  } else if (victim === 'agent') {
    const pid = await agentPid()
    // A stopped container has pid 0, which would signal this program's own group.
    if (pid > 1) process.kill(pid, 'SIGKILL')
    struck()
  } else {
    const pid = await agentPid()
    const back = engine.restart('SIGKILL', chance.between(0, 1000))
    let isBack = false
    void back.finally(() => (isBack = true))
    while (existsSync(`/proc/${pid}`) && !isBack) await pause(2)
    struck()
    await back
  }
  while ((await untilReachable(platform, [{ name: agent }], 20_000)) === null)
    // An agent that was killed too often stays down until somebody starts it.
    await platform.request('POST', `/api/agents/${agent}/start`).catch(() => {})
}

async function agentPid(): Promise<number> {
  const { stdout } = await docker('inspect', '--format', '{{.State.Pid}}', platform.containerOf(agent))
  return Number(stdout)
}

async function restore(target: object): Promise<void> {
  const { id } = await request('POST', restores, { ...target, when_busy: 'wait' })
  const { state, reason } = await endOf(id)
  if (state !== 'restored' && state !== 'unchanged') throw new Error(`A restore ended as ${state}: ${reason}`)
}

function endOf(id: string): Promise<Loose> {
  return eventually(
    () => request('GET', `${restores}/${id}`),
    ({ ended_at }) => ended_at !== null,
    limitMs,
  )
}

/** Names, kinds, permissions, link targets and contents. */
async function digest(): Promise<string> {
  const script = `cd /home/developer/work && { find . -printf '%p %y %m %l\\n' | LC_ALL=C sort; find . -type f -print0 | LC_ALL=C sort -z | xargs -0 sha256sum; } | sha256sum`
  return eventually(
    () =>
      docker('exec', '-u', 'developer', platform.containerOf(agent), 'sh', '-c', script).then(
        ({ stdout }) => stdout,
        () => '',
      ),
    (text) => text !== '',
    limitMs,
  )
}

async function request(method: string, path: string, body?: object): Promise<Loose> {
  const reply = await eventually(
    () => platform.request(method, path, body).catch(() => null),
    // The agent may be away after a strike.
    (answer) => answer !== null && answer.status < 500,
    limitMs,
  )
  if (!reply || reply.status >= 300) throw new Error(`${method} ${path}: ${reply?.status} ${reply?.text}`)
  return reply.json
}

function rows(query: string, ...values: string[]): Loose[] {
  const db = new DatabaseSync(join(platform.dataDir, 'roost.db'), { readOnly: true })
  try {
    return db.prepare(query).all(...values)
  } finally {
    db.close()
  }
}

function docker(...args: string[]) {
  return run('docker', [...engine.clientArguments, ...args])
}

function count(row: string, column: string): void {
  const result = results[row] ?? {}
  result[column.trim()] = (result[column.trim()] ?? 0) + 1
  results[row] = result
}

function violate(round: number, victim: Victim, what: string): void {
  violations.push(`round ${round}, ${victim} killed: ${what}`)
}
