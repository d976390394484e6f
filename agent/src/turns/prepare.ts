import { join } from 'node:path'
import type { AgentSettings } from '@roost/contracts/link/messages'
import type { Run } from '@roost/contracts/link/runs'
import type { Clock } from '../kit/clock.ts'
import type { Environment } from '../processes/environment.ts'
import type { Identities, ProcessUser } from '../processes/identity.ts'
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
  /** Address of the platform's MCP server; null without one. */
  mcpUrl: string | null
  identities: Identities
  permissions: Permissions
  live: LivePool
  clock: Clock
  settings(): AgentSettings
  /** Current MCP servers of the workspace's `.mcp.json`. */
  servers(): Promise<Setup['servers']>
  /** Environment of a child process, including the workspace's current `.env`. */
  environment(overrides: Record<string, string | null>): Promise<Environment>
}

/**
 * Everything that a turn needs except its process. `signature` covers all settings that need a new process.
 */
export type PreparedTurn = {
  run: Run
  user: ProcessUser
  setup: Setup
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
  const user: ProcessUser = readOnly && (await deps.identities.canSwitch()) ? 'reader' : 'developer'
  if (readOnly && user === 'reader') await deps.permissions.openForReader(readOnly)
  else if (readOnly) warn(hookOnly)
  const scratch = await makeScratch(deps.places.scratch, user, deps.owner)
  try {
    return await fill({ run, user, readOnly, scratch }, deps, read, warn)
  } catch (fault) {
    await scratch.remove()
    throw fault
  }
}

type TurnBasics = Pick<PreparedTurn, 'run' | 'user' | 'scratch'> & { readOnly: ReadOnlyRules | null }

async function fill(
  { run, user, readOnly, scratch }: TurnBasics,
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
    mcp: deps.mcpUrl === null ? null : { url: deps.mcpUrl, key: run.key },
    servers: await deps.servers(),
    imagePaths: input.images.map(({ path }) => path),
    places: { home, state: deps.places.state, scratch: scratch.path },
  }
  for (const caveat of deps.runtime.caveats?.(setup) ?? []) warn(caveat)
  return { run, user, setup, input, scratch, signature: signatureOf(setup, await deps.environment({})) }
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
  const { run, user, setup, scratch } = turn
  const { runtime, identities, permissions, clock } = deps
  const launch = await runtime.prepare(setup)
  const options = {
    launch,
    env: await deps.environment(launch.env),
    cwd: setup.places.home,
    user,
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
      if (user === 'reader') await permissions.openForDeveloper()
      else permissions.noteDeveloperTurn()
    },
  }
}

/** Covers everything fixed at process start except the resumed session. */
function signatureOf(setup: Setup, env: Environment): string {
  const { systemPrompt, model, allowedTools, maxTurns, readOnly, broker, mcp, servers } = setup
  return JSON.stringify([systemPrompt, model, allowedTools, maxTurns, readOnly, broker, mcp, servers, env])
}
