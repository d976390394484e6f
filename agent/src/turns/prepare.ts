import { join } from 'node:path'
import type { AgentSettings } from '@roost/contracts/link/messages'
import type { Run } from '@roost/contracts/link/runs'
import type { Clock } from '../kit/clock.ts'
import type { OwnersFiles } from '../principals/owners-files.ts'
import type { Places, TurnPlace } from '../principals/places.ts'
import type { Sharing } from '../principals/sharing.ts'
import { openBridge, type ToolBridge } from '../principals/tool-bridge.ts'
import { serversOf, type TurnServers } from '../principals/tool-servers.ts'
import type { Environment } from '../processes/environment.ts'
import type { Identities, ProcessUser } from '../processes/identity.ts'
import { createProcessTree } from '../processes/tree.ts'
import type { Launch, ReadOnlyRules, Runtime, Setup, TurnInput } from '../runtimes/port.ts'
import { placeAttachments, type ReadAttachment } from '../workspace/attachments.ts'
import type { Permissions } from '../workspace/permissions.ts'
import type { LivePool, OwnedProcess } from './live.ts'
import { type RuntimeProcess, startRuntimeProcess } from './runtime-process.ts'
import type { Scratch, Scratches } from './scratch.ts'

export type PrepareDeps = {
  runtime: Runtime
  home: string
  /** Staging folder outside the workspace. */
  parts: string
  scratches: Scratches
  places: Places
  /** Returns the current address of the platform's MCP server; null without one. */
  mcpUrl(): string | null
  identities: Identities
  permissions: Permissions
  live: LivePool
  users: UserCount
  sharing: Sharing
  ownersFiles: OwnersFiles
  clock: Clock
  settings(): AgentSettings
  /** Current MCP servers of the workspace's `.mcp.json`, if the owner wrote it. */
  servers(): Promise<Setup['servers']>
  /** Environment of a child process, including the workspace's current `.env`. */
  environment(overrides: Record<string, string | null>, place?: TurnPlace): Promise<Environment>
}

/** Counts the processes of each user, and waits for leftovers of other turns to be killed. */
export type UserCount = {
  /** New processes start only after `killing`: leftovers may have used up the process limit. */
  clear(killing: Promise<void>): Promise<void>
  cleared(): Promise<unknown>
  began(user: { uid: number }): void
  /** True when it was the user's last one. */
  ended(user: { uid: number }): boolean
}

export function createUserCount(): UserCount {
  const counts = new Map<number, number>()
  const clearing = new Set<Promise<void>>()
  return {
    clear(killing) {
      const ended = killing.finally(() => clearing.delete(ended))
      clearing.add(ended)
      return ended
    },
    cleared: () => Promise.all(clearing),
    began: ({ uid }) => void counts.set(uid, (counts.get(uid) ?? 0) + 1),
    ended({ uid }) {
      const left = (counts.get(uid) ?? 1) - 1
      if (left > 0) counts.set(uid, left)
      else counts.delete(uid)
      return left === 0
    },
  }
}

/**
 * Everything that a turn needs except its process. `signature` covers all settings that need a new process.
 */
export type PreparedTurn = {
  run: Run
  place: TurnPlace
  setup: Setup
  /** Tool servers that this program runs for the turn. */
  bridged: TurnServers['bridged']
  input: TurnInput
  scratch: Scratch
  signature: string
}

/** `warn` writes limitations of the turn to the transcript. */
export async function prepareTurn(
  run: Run,
  deps: PrepareDeps,
  read: ReadAttachment,
  warn: (message: string) => void,
): Promise<PreparedTurn> {
  const { enabled, blocked_patterns, allowed_patterns } = deps.settings().read_only
  const readOnly = enabled ? { blocked: blocked_patterns, allowed: allowed_patterns } : null
  const place = await deps.places.of(run.principal, readOnly !== null)
  await deps.sharing.before(place)
  const isEnforced = place.user !== deps.identities.developer
  if (readOnly && isEnforced) await deps.permissions.openForReader(readOnly)
  else if (readOnly) warn(hookOnly)
  if (!isEnforced) await deps.permissions.beforeDeveloper()
  const scratch = await deps.scratches.make(place.user)
  try {
    return await fill({ run, place, readOnly, scratch }, deps, read, warn)
  } catch (fault) {
    await scratch.remove()
    throw fault
  }
}

type TurnBasics = Pick<PreparedTurn, 'run' | 'place' | 'scratch'> & { readOnly: ReadOnlyRules | null }

async function fill(
  { run, place, readOnly, scratch }: TurnBasics,
  deps: PrepareDeps,
  read: ReadAttachment,
  warn: (message: string) => void,
): Promise<PreparedTurn> {
  // Files of somebody who may not write to the workspace stay in the scratch folder: others read the workspace.
  const mayAdd = !place.isPrivate || place.access === 'write'
  const folders = {
    uploads: join(mayAdd ? deps.home : scratch.path, 'uploads'),
    parts: deps.parts,
    images: join(scratch.path, 'images'),
  }
  const input = await placeAttachments(run.message, run.attachments, folders, read)
  const { servers, bridged, notices } = await serversOf(place, scratch.path, deps)
  const mcpUrl = deps.mcpUrl()
  const setup: Setup = {
    kind: run.kind,
    systemPrompt: run.system_prompt,
    model: run.model ?? deps.settings().model,
    allowedTools: run.allowed_tools,
    maxTurns: run.max_turns,
    resumeSessionId: run.resume_session_id,
    readOnly,
    broker: run.broker,
    mcp: mcpUrl === null ? null : { url: mcpUrl, key: run.key },
    servers,
    credentials: place.credentials,
    isOwner: !place.isPrivate,
    obeys: await obeyedBy(place, deps.ownersFiles),
    imagePaths: input.images.map(({ path }) => path),
    places: { home: place.cwd, state: place.state, scratch: scratch.path },
  }
  for (const caveat of [...(deps.runtime.caveats?.(setup) ?? []), ...notices]) warn(caveat)
  const ignored = await deps.ownersFiles.foreign()
  if (ignored.length > 0) warn(ignoredNotice(ignored))
  const signature = signatureOf(setup, place, [await deps.environment({}, place), bridged])
  return { run, place, setup, bridged, input, scratch, signature }
}

/** Settings of the owner may hold credentials, so other people's turns do without them. */
async function obeyedBy({ isPrivate }: TurnPlace, files: OwnersFiles): Promise<Setup['obeys']> {
  const hasFolder = await files.isOwners('.claude')
  if (isPrivate) return { settings: [], hasFolder }
  if (!files.isShared()) return { settings: null, hasFolder }
  const texts = await Promise.all(['.claude/settings.json', '.claude/settings.local.json'].map(files.read))
  return { settings: texts.filter((text) => text !== null), hasFolder }
}

function ignoredNotice(paths: readonly string[]): string {
  return `Ignored, because somebody other than the owner may have changed them: ${paths.join(', ')}. The owner can delete them and then write them anew.`
}

const hookOnly =
  'Read-only mode: this turn cannot run as another user. Tools that write files are refused; shell commands are not restricted.'

/** Returns the conversation's live process if it matches, else a new one. */
export async function acquireProcess(turn: PreparedTurn, deps: PrepareDeps): Promise<OwnedProcess> {
  const { run, setup, scratch } = turn
  const fit = { signature: turn.signature, resumeSessionId: setup.resumeSessionId }
  const reused = mayStayAlive(turn, deps) && run.session_id ? await deps.live.take(run.session_id, fit) : null
  try {
    if (!reused) return await startProcess(turn, deps)
    await scratch.remove()
    return reused
  } catch (fault) {
    await scratch.remove()
    throw fault
  }
}

/** True when the process serves further turns of its conversation. */
export function mayStayAlive(
  { run, setup }: PreparedTurn,
  { runtime }: Pick<PrepareDeps, 'runtime'>,
): boolean {
  return run.kind === 'chat' && run.session_id !== null && runtime.keepsAlive(setup)
}

async function startProcess(turn: PreparedTurn, deps: PrepareDeps): Promise<OwnedProcess> {
  const { run, place, setup, scratch } = turn
  const { runtime, identities } = deps
  for (const path of runtime.reads ?? [])
    if (!(await deps.ownersFiles.isOwners(path))) await deps.ownersFiles.setAside(path)
  const launch = await runtime.prepare(setup)
  const earlier = await deps.places.earlierSession(place, setup.resumeSessionId, scratch.path)
  const env = await deps.environment(launch.env, place)
  // Nothing that a read-only turn starts may write to the workspace.
  const user = setup.readOnly ? identities.reader : identities.developer
  const about = { scratch, cwd: deps.home, user, marker: run.execution_id }
  const bridge = await openBridge(turn.bridged, about, identities)
  try {
    await scratch.handOver()
    const process = await startRuntime(
      turn,
      { ...launch, before: `${earlier}\n${launch.before ?? ''}` },
      env,
      deps,
    )
    const users = turn.bridged.length > 0 ? [place.user, user] : [place.user]
    return owned(process, bridge, { turn, users, deps })
  } catch (fault) {
    await bridge.close()
    throw fault
  }
}

async function startRuntime(
  { run, place, setup }: PreparedTurn,
  launch: Launch,
  env: Environment,
  { runtime, identities, users, ownersFiles, clock }: PrepareDeps,
): Promise<RuntimeProcess> {
  // Counted before it waits, so that nobody's end kills all processes of this user from here on.
  users.began(place.user)
  let isWriting = false
  try {
    await ownersFiles.began(place)
    isWriting = true
    await users.cleared()
    const options = {
      launch,
      env,
      cwd: setup.places.home,
      user: place.user,
      marker: run.execution_id,
      dialogue: runtime.converse(setup, clock.now),
      now: clock.elapsed,
    }
    return await startRuntimeProcess(options, identities)
  } catch (fault) {
    if (isWriting) ownersFiles.ended(place)
    users.ended(place.user)
    throw fault
  }
}

type Owning = { turn: PreparedTurn; users: ProcessUser[]; deps: PrepareDeps }

function owned(process: RuntimeProcess, bridge: ToolBridge, { turn, users, deps }: Owning): OwnedProcess {
  const { place, scratch, bridged } = turn
  const { identities, permissions, sharing } = deps
  /** Tool servers may have created files of the owner. */
  const noteFiles = () => (bridged.length > 0 ? sharing.noteOwner() : undefined)
  return {
    process: {
      ...process,
      async killDetached() {
        await Promise.all([process.killDetached(), bridge.killDetached()])
        noteFiles()
      },
    },
    async close() {
      await process.finish()
      await bridge.close()
      noteFiles()
      // What escaped the mark of its run ends with the last run of its user.
      if (deps.users.ended(place.user))
        await deps.users.clear(createProcessTree(place.user, identities).killAll())
      deps.ownersFiles.ended(place)
      await scratch.remove()
      if (users.some(({ uid }) => uid === identities.reader.uid)) await permissions.openForDeveloper()
      if (users.some(({ uid }) => uid === identities.developer.uid)) permissions.noteDeveloperTurn()
    },
  }
}

/** Covers everything fixed at process start except the resumed session and the scratch folder. */
function signatureOf(setup: Setup, place: TurnPlace, others: unknown[]): string {
  const { systemPrompt, model, allowedTools, maxTurns, readOnly, broker, mcp, servers, obeys } = setup
  const fixed = [systemPrompt, model, allowedTools, maxTurns, readOnly, broker, mcp, servers, obeys]
  return JSON.stringify([...fixed, place, ...others]).replaceAll(setup.places.scratch, '')
}
