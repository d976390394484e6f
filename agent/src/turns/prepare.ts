import { join } from 'node:path'
import type { AgentSettings } from '@roost/contracts/link/messages'
import type { Run } from '@roost/contracts/link/runs'
import type { Clock } from '../kit/clock.ts'
import type { Environment } from '../processes/environment.ts'
import type { Identities, Person } from '../processes/identity.ts'
import type { ReadOnlyRules, Runtime, Setup, TurnInput } from '../runtimes/port.ts'
import { placeAttachments, type ReadAttachment } from '../workspace/attachments.ts'
import type { Permissions } from '../workspace/permissions.ts'
import type { LivePool, OwnedProcess } from './live.ts'
import { startRuntimeProcess } from './runtime-process.ts'
import { makeScratch, type Scratch } from './scratch.ts'

export type PrepareDeps = {
  runtime: Runtime
  places: { home: string; state: string; scratch: string }
  owner: { uid: number; gid: number }
  mcp: Setup['mcp']
  identities: Identities
  permissions: Permissions
  live: LivePool
  clock: Clock
  settings(): AgentSettings
  /** Tool servers of the workspace's `.mcp.json`, as they are now. */
  servers(): Promise<Setup['servers']>
  /** The variables of a child, with the workspace's `.env` as it is now. */
  environment(over: Record<string, string | null>): Promise<Environment>
}

/** Everything that a turn needs but its process; `signature` stands for what only a new process can take. */
export type PreparedTurn = {
  run: Run
  person: Person
  setup: Setup
  input: TurnInput
  scratch: Scratch
  signature: string
}

/** `warn` tells the transcript what the turn does without. */
export async function prepareTurn(
  run: Run,
  deps: PrepareDeps,
  read: ReadAttachment,
  warn: (message: string) => void,
): Promise<PreparedTurn> {
  const { enabled, blocked_patterns, allowed_patterns } = deps.settings().read_only
  const readOnly = enabled ? { blocked: blocked_patterns, allowed: allowed_patterns } : null
  const person: Person = readOnly && (await deps.identities.canSwitch()) ? 'reader' : 'developer'
  if (readOnly && person === 'reader') await deps.permissions.openForReader(readOnly)
  else if (readOnly) warn(hookOnly)
  const scratch = await makeScratch(deps.places.scratch, person, deps.owner)
  try {
    return await fill({ run, person, readOnly, scratch }, deps, read, warn)
  } catch (fault) {
    await scratch.remove()
    throw fault
  }
}

type Begun = Pick<PreparedTurn, 'run' | 'person' | 'scratch'> & { readOnly: ReadOnlyRules | null }

async function fill(
  { run, person, readOnly, scratch }: Begun,
  deps: PrepareDeps,
  read: ReadAttachment,
  warn: (message: string) => void,
): Promise<PreparedTurn> {
  const { home } = deps.places
  const places = {
    uploads: join(home, 'uploads'),
    parts: join(home, '.roost', 'parts'),
    images: join(scratch.path, 'images'),
  }
  const input = await placeAttachments(run.message, run.attachments, places, read)
  const setup: Setup = {
    kind: run.kind,
    systemPrompt: run.system_prompt,
    model: run.model ?? deps.settings().model,
    allowedTools: run.allowed_tools,
    maxTurns: run.max_turns,
    resumeSessionId: run.resume_session_id,
    readOnly,
    broker: run.broker,
    mcp: deps.mcp,
    servers: await deps.servers(),
    imagePaths: input.images.map(({ path }) => path),
    places: { home, state: deps.places.state, scratch: scratch.path },
  }
  for (const caveat of deps.runtime.caveats?.(setup) ?? []) warn(caveat)
  return { run, person, setup, input, scratch, signature: signatureOf(setup, await deps.environment({})) }
}

const hookOnly =
  'Read-only mode: here a turn cannot run as another user. Tools that write files are refused; shell commands are not held back.'

/** The conversation's live process where there is a fit one, else a new one. */
export async function acquireProcess(turn: PreparedTurn, deps: PrepareDeps): Promise<OwnedProcess> {
  const { run, setup, scratch } = turn
  const fit = { signature: turn.signature, resumeSessionId: setup.resumeSessionId }
  const waiting =
    mayStayAlive(turn, deps) && run.session_id ? await deps.live.take(run.session_id, fit) : null
  try {
    if (!waiting) return await startProcess(turn, deps)
    await scratch.remove()
    return waiting
  } catch (fault) {
    await scratch.remove()
    throw fault
  }
}

/** Whether the process serves further turns of its conversation. */
export function mayStayAlive(
  { run, setup }: PreparedTurn,
  { runtime }: Pick<PrepareDeps, 'runtime'>,
): boolean {
  return run.kind === 'chat' && run.session_id !== null && runtime.keepsAlive(setup)
}

async function startProcess(turn: PreparedTurn, deps: PrepareDeps): Promise<OwnedProcess> {
  const { run, person, setup, scratch } = turn
  const { runtime, identities, permissions, clock } = deps
  const launch = await runtime.prepare(setup)
  const options = {
    launch,
    env: await deps.environment(launch.env),
    cwd: setup.places.home,
    person,
    marker: run.execution_id,
    dialogue: runtime.converse(setup, clock.now),
    now: clock.elapsed,
  }
  const process = await startRuntimeProcess(options, identities)
  return {
    process,
    async close() {
      await process.finish()
      await scratch.remove()
      if (person === 'reader') await permissions.openForDeveloper()
      else permissions.noteDeveloperTurn()
    },
  }
}

/** Everything that is fixed when a process starts, but for the session that it resumes. */
function signatureOf(setup: Setup, env: Environment): string {
  const { systemPrompt, model, allowedTools, maxTurns, readOnly, broker, mcp, servers } = setup
  return JSON.stringify([systemPrompt, model, allowedTools, maxTurns, readOnly, broker, mcp, servers, env])
}
