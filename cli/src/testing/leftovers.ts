import { createHash } from 'node:crypto'
import { readdir, readFile, readlink, rm } from 'node:fs/promises'
import { setTimeout as pause } from 'node:timers/promises'
import { hasProgram, run } from '../machine/run.ts'
import {
  idsIn,
  idsInLabel,
  isAlive,
  type Session,
  sessionOf,
  sessionsWithFolders,
  sessionVariable,
} from './session.ts'

/** Time for processes to end before they are killed, and again after the kill. */
const graceMs = 10_000
const label = 'roost.install'

/** Removes everything that a session created. Processes come first, because they can create more. */
export async function removeSession(session: Session): Promise<void> {
  await endProcesses(session)
  await removeFromEngine((text) => text.startsWith(session.installs))
  await rm(session.folder, { recursive: true, force: true, maxRetries: 5 })
}

/** Removes all that a platform has on the engine. */
export function removeInstallation(id: string): Promise<void> {
  return removeFromEngine((install) => install === id)
}

/** Removes every session whose keeper was killed. Returns their ids. */
export async function removeDeadSessions(): Promise<string[]> {
  const running = (await processes()).flatMap(({ session }) => session)
  const onEngine = [...(await containers()), ...(await volumes()), ...(await networks())]
  const labelled = onEngine.flatMap(({ install }) => idsInLabel(install))
  const ids = new Set([...running, ...labelled, ...(await sessionsWithFolders())])
  const dead: string[] = []
  for (const id of ids) {
    if (await isAlive(id)) continue
    await removeSession(sessionOf(id))
    dead.push(id)
  }
  return dead
}

type Process = { pid: number; parent: number; name: string; folder: string; session: string[] }

/** PostgreSQL releases its shared memory at a fast shutdown, but not when it is killed. */
async function endProcesses(session: Session): Promise<void> {
  const deadline = performance.now() + graceMs
  for (;;) {
    const found = await processesOf(session)
    if (found.length === 0) return
    const isLate = performance.now() > deadline
    for (const { pid, name } of found) kill(pid, name === 'postgres' && !isLate ? 'SIGQUIT' : 'SIGKILL')
    if (performance.now() > 2 * graceMs + deadline)
      throw new Error(
        `Processes that cannot be ended: ${found.map(({ pid, name }) => `${pid} ${name}`).join()}`,
      )
    await pause(50)
  }
}

/** Returns the processes of the session and their descendants, without this process. */
async function processesOf({ id, folder }: Session): Promise<Process[]> {
  const all = await processes()
  const found = new Set<number>()
  const isOwn = (each: Process) =>
    each.session.includes(id) || each.folder === folder || each.folder.startsWith(`${folder}/`)
  for (const each of all) if (isOwn(each)) found.add(each.pid)
  for (let before = -1; before !== found.size; ) {
    before = found.size
    for (const { pid, parent } of all) if (found.has(parent)) found.add(pid)
  }
  found.delete(process.pid)
  return all.filter(({ pid }) => found.has(pid))
}

/** Returns all processes that this user may inspect, without zombies. */
async function processes(): Promise<Process[]> {
  const pids = (await readdir('/proc')).filter((name) => /^\d+$/.test(name))
  const all = await Promise.all(pids.map((pid) => lookAt(Number(pid))))
  return all.filter((each) => each !== null)
}

async function lookAt(pid: number): Promise<Process | null> {
  try {
    const stat = await readFile(`/proc/${pid}/stat`, 'utf8')
    const name = stat.slice(stat.indexOf('(') + 1, stat.lastIndexOf(')'))
    const [state = '', parent = ''] = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
    if (state === 'Z' || state === 'X') return null
    const folder = await readlink(`/proc/${pid}/cwd`).catch(() => '')
    const environment = await readFile(`/proc/${pid}/environ`, 'utf8').catch(() => '')
    const own = environment.split('\0').find((entry) => entry.startsWith(`${sessionVariable}=`))
    const session = own ? idsIn(own.slice(sessionVariable.length + 1)) : []
    return { pid, parent: Number(parent), name, folder, session }
  } catch {
    // The process has ended in the meantime.
    return null
  }
}

function kill(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error
  }
}

type Labelled = { id: string; install: string }

async function removeFromEngine(isOwn: (install: string) => boolean): Promise<void> {
  const own = (all: Labelled[]) => all.filter(({ install }) => isOwn(install)).map(({ id }) => id)
  const found = own(await containers())
  if (found.length > 0) await docker('rm', '-f', '-v', ...found)
  const stored = own(await volumes())
  if (stored.length > 0) await docker('volume', 'rm', '-f', ...stored)
  for (const { id, install } of await networks()) {
    if (!isOwn(install)) continue
    await docker('network', 'rm', id)
    // Absent without permission to filter packets. `docs/operate/egress.md` names the table.
    const hash = createHash('sha256').update(install).digest('hex')
    await run('nft', ['delete', 'table', 'inet', `roost_${hash.slice(0, 12)}`])
  }
}

const containers = () => labelled('ps', '-a', '--format', `{{.ID}}\t{{.Label "${label}"}}`)
const networks = () => labelled('network', 'ls', '--format', `{{.ID}}\t{{.Label "${label}"}}`)
const volumes = () => labelled('volume', 'ls', '--format', `{{.Name}}\t{{.Label "${label}"}}`)

/** Returns an empty list if no engine responds. */
async function labelled(...args: string[]): Promise<Labelled[]> {
  if (!(await hasProgram('docker'))) return []
  const { code, stdout } = await run('docker', [...args, '--filter', `label=${label}`], { timeoutMs: 60_000 })
  if (code !== 0) return []
  return stdout.split('\n').flatMap((line) => {
    const [id = '', install = ''] = line.split('\t')
    return id === '' ? [] : [{ id, install }]
  })
}

async function docker(...args: string[]): Promise<void> {
  const { code, lastLines } = await run('docker', args, { timeoutMs: 120_000 })
  if (code !== 0) throw new Error(`docker ${args.slice(0, 2).join(' ')} failed:\n${lastLines.join('\n')}`)
}
