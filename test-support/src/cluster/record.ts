import { renameSync, writeFileSync } from 'node:fs'
import { mkdir, readdir, readFile, rm, rmdir } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { acquireLock, processStart } from '../../../cli/src/machine/lock.ts'
import { run, succeeds } from './processes.ts'
import { cgroupFolders } from './requirements.ts'
import { isNetworkUsed, maxNodes, planSlot, type Slot, slotCount } from './slot.ts'

/** Records of the clusters of this machine. A reboot deletes them, like the clusters. */
const recordFolder = '/run/roost-cluster'
const endTimeoutMs = 20_000

/** `start` distinguishes it from a later process with the same id. */
export type RecordedProcess = { pid: number; start: string }
type ClusterRecord = { folder: string; processes: RecordedProcess[] }

/** A slot that this process holds until `release`. */
export type HeldSlot = {
  slot: Slot
  folder: string
  /** Records a process, so that it can be ended even after a crash of this one. */
  add(pid: number): Promise<RecordedProcess>
  /** Removes everything that the cluster created on this machine, and the record. */
  release(): Promise<void>
}

/** Removes what crashed processes left, then claims a free slot. `parent` is the folder for the files of clusters. */
export async function claimSlot(parent: string): Promise<HeldSlot> {
  await mkdir(recordFolder, { recursive: true, mode: 0o700 })
  await removeCrashed()
  const used = await usedNetworks()
  for (let number = 0; number < slotCount; number += 1) {
    const slot = planSlot(number)
    if (isNetworkUsed(slot.network, used)) continue
    const lock = await lockSlot(number)
    if (lock) return hold(slot, join(parent, slot.name), lock)
  }
  throw new Error(
    `All networks from ${planSlot(0).network} to ${planSlot(slotCount - 1).network} are in use.`,
  )
}

/** Returns the numbers of the slots that were cleaned up. */
export async function removeCrashed(): Promise<number[]> {
  const names = await readdir(recordFolder).catch(() => [])
  const removed: number[] = []
  for (const name of names) {
    const number = Number(/^(\d+)\.json$/.exec(name)?.[1] ?? Number.NaN)
    if (Number.isNaN(number)) continue
    const lock = await lockSlot(number)
    if (!lock) continue
    try {
      const record = await readRecord(number)
      if (record) await removeTraces(planSlot(number), record)
      removed.push(number)
    } finally {
      await lock.release()
    }
  }
  return removed
}

const recordPath = (number: number) => join(recordFolder, `${number}.json`)
const lockSlot = (number: number) => acquireLock('cluster', recordPath(number))

async function readRecord(number: number): Promise<ClusterRecord | null> {
  const text = await readFile(recordPath(number), 'utf8').catch(() => null)
  // Only `hold` writes it, by renaming a whole file.
  return text === null ? null : (JSON.parse(text) as ClusterRecord)
}

async function hold(slot: Slot, folder: string, lock: { release(): Promise<void> }): Promise<HeldSlot> {
  const record: ClusterRecord = { folder, processes: [] }
  const path = recordPath(slot.number)
  // Synchronous, because processes start concurrently.
  const save = () => {
    writeFileSync(`${path}.new`, JSON.stringify(record), { mode: 0o600 })
    renameSync(`${path}.new`, path)
  }
  save()
  await rm(folder, { recursive: true, force: true })
  await mkdir(folder, { recursive: true, mode: 0o700 })
  return {
    slot,
    folder,
    async add(pid) {
      // A process that has ended already gets a start that no other process has.
      const recorded = { pid, start: (await processStart(pid)) ?? 'ended' }
      record.processes.push(recorded)
      save()
      return recorded
    },
    async release() {
      await removeTraces(slot, record)
      await lock.release()
    },
  }
}

async function removeTraces(slot: Slot, { folder, processes }: ClusterRecord): Promise<void> {
  await endProcesses(processes)
  for (let index = 1; index <= maxNodes; index += 1) {
    const { link, controlGroup } = slot.node(index)
    await removeLink(link)
    await removeControlGroup(controlGroup)
  }
  await removeLink(slot.bridge)
  await removeRules(slot.name)
  await rm(folder, { recursive: true, force: true, maxRetries: 5 })
  await rm(recordPath(slot.number), { force: true })
}

/** Kills the processes and waits for their end. Another process with the same id is left alone. */
export async function endProcesses(processes: readonly RecordedProcess[]): Promise<void> {
  const isAlive = async ({ pid, start }: RecordedProcess) => (await processStart(pid)) === start
  for (const deadline = performance.now() + endTimeoutMs; ; await pause(20)) {
    const alive: RecordedProcess[] = []
    for (const each of processes) if (await isAlive(each)) alive.push(each)
    if (alive.length === 0) return
    if (performance.now() > deadline)
      throw new Error(`Processes that cannot be ended: ${alive.map(({ pid }) => pid).join(', ')}`)
    for (const { pid } of alive) tryKill(pid)
  }
}

function tryKill(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL')
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error
  }
}

export async function removeLink(name: string): Promise<void> {
  if (await succeeds('ip', ['link', 'show', 'dev', name])) await run('ip', ['link', 'delete', 'dev', name])
}

/** Removes a node's groups in all hierarchies. The kernel frees a group a moment after its last process ended. */
export async function removeControlGroup(name: string): Promise<void> {
  for (const parent of await cgroupFolders()) {
    const folder = join(parent, name)
    for (const deadline = performance.now() + endTimeoutMs; ; await pause(20)) {
      if (await removeEmptyFolders(folder)) break
      if (performance.now() > deadline) throw new Error(`The control group ${folder} still has processes.`)
    }
  }
}

/** True if nothing is left. `rmdir` of one level does not work on a group with children. */
async function removeEmptyFolders(folder: string): Promise<boolean> {
  const entries = await readdir(folder, { withFileTypes: true }).catch(() => null)
  if (entries === null) return true
  let isEmpty = true
  for (const entry of entries)
    if (entry.isDirectory()) isEmpty = (await removeEmptyFolders(join(folder, entry.name))) && isEmpty
  return isEmpty && (await removeFolder(folder))
}

async function removeFolder(folder: string): Promise<boolean> {
  return rmdir(folder).then(
    () => true,
    (error: NodeJS.ErrnoException) => error.code === 'ENOENT',
  )
}

const ruleLists = [
  { table: 'filter', chain: 'INPUT' },
  { table: 'filter', chain: 'FORWARD' },
  { table: 'nat', chain: 'POSTROUTING' },
]

async function removeRules(comment: string): Promise<void> {
  for (const { table, chain } of ruleLists) {
    const rules = (await run('iptables', ['-w', '-t', table, '-S', chain])).split('\n')
    for (const rule of rules) {
      const words = rule.split(' ')
      // Rules of others may have quoted comments with spaces; these match no name of a cluster.
      if (words[words.indexOf('--comment') + 1] !== comment || words[0] !== '-A') continue
      await run('iptables', ['-w', '-t', table, '-D', ...words.slice(1)])
    }
  }
}

async function usedNetworks(): Promise<string[]> {
  const routes: unknown = JSON.parse(await run('ip', ['-j', '-4', 'route', 'show', 'table', 'all']))
  if (!Array.isArray(routes)) return []
  return routes.flatMap((route: { dst?: unknown }) => (typeof route.dst === 'string' ? [route.dst] : []))
}
