import { fileChunkBytes, leaseSeconds, maxMessageBytes } from '@roost/contracts/link/messages'
import type { ClaimAnswer, Run, RunAttachment } from '@roost/contracts/link/runs'
import type { RunRecording, StartedRun } from '../../agents/history/index.ts'
import type { RunContext, RunContexts } from '../../agents/run-context/index.ts'
import type { Outbox } from '../../foundation/outbox/index.ts'
import { type Clock, secondsLater, timestamp } from '../../kit/clock.ts'
import type { AgentLink } from '../../ports/agent-link/port.ts'
import type { Db, Tx } from '../../ports/database/port.ts'
import type { Log } from '../../ports/log.ts'
import {
  activitySignal,
  type Ending,
  type ExecutionRow,
  queueStore,
  type RunHooks,
  type Settle,
  startedEvent,
  type TurnContext,
  type Waiting,
} from '../executions/index.ts'
import type { Live } from '../transcripts/index.ts'
import type { RequestSnapshot } from './request.ts'
import { pick } from './rules.ts'
import { attachmentStore } from './store.ts'
import { systemPrompt } from './system-prompt.ts'

export type ClaimDeps = Settle & {
  db: Db
  clock: Pick<Clock, 'now'>
  log: Log
  events: Pick<Outbox, 'append' | 'signal'>
  live: Pick<Live, 'changed' | 'closed'>
  hooks: RunHooks
  runContexts: RunContexts
  recording: Pick<RunRecording, 'started'> | null
  link: Pick<AgentLink, 'wake'>
  /** Address for the run's model traffic, with a token that is valid only for this run. */
  brokerAccess(row: ExecutionRow): Run['broker']
  runKeysOf(agentId: string): Promise<RunKeyOf>
  /** The operator's part of every system prompt. */
  platformPrompt(): Promise<string | null>
}

/** `only`: the principals whose runs it may get; without it all. */
export type Claimant = RunContext & { only?: ReadonlySet<string | null> | null }

/** The key that a run uses for the platform; empty for an agent without a key of its own. */
export type RunKeyOf = (
  row: Pick<ExecutionRow, 'id' | 'agent_id' | 'kind' | 'session_id' | 'principal'>,
) => string

/** Queued runs that a claim reads first. */
const firstReadLimit = 20
/** Queued runs that a claim reads if the first ones leave slots free: turns of busy conversations are skipped. */
const secondReadLimit = 500
/** Runs per claim: with the longest messages and prompts they still fit one link message. */
const maxRunsPerClaim = 8
/** Half of a message is for attachments, the rest for everything else in a claim. */
const inlineAttachmentBytes = maxMessageBytes / 2

/** The queue as read under its lock. */
export type QueueRead = { token: number; keys: (string | null)[]; first: Waiting[]; isClosed: boolean }
/** Claimed runs that are not assembled yet. */
export type ClaimedRuns = { row: ExecutionRow; turn: Turn }[]

/**
 * Hands queued runs to their agent, with a lease and a growing claim token. The queue is locked while slots
 * are counted, so that concurrent claims never share a slot and the order holds.
 */
export function createClaim(deps: ClaimDeps) {
  const { db, clock, log, events, live, hooks, runContexts, settle } = deps

  /** Sends all statements together: `before` runs once the queue is locked, and the reads follow it. */
  async function findClaimable<T>(
    tx: Tx,
    agentId: string,
    before: () => Promise<T>,
  ): Promise<[QueueRead, T]> {
    const queue = queueStore(tx)
    const [token, done, keys, first, isClosed] = await Promise.all([
      queue.lockQueue(agentId),
      before(),
      queue.runningKeys(agentId),
      queue.waitingOf(agentId, firstReadLimit),
      // Stopping the agent locks its queue too, so a later claim starts none of the runs that it ends.
      runContexts.isClosedForRuns(tx, agentId),
    ])
    return [{ token, keys, first, isClosed }, done]
  }

  async function claim(
    tx: Tx,
    { agent, free }: { agent: Claimant; free: number },
    { token, keys, first, isClosed }: QueueRead,
  ): Promise<ClaimedRuns> {
    if (isClosed) return []
    const queue = queueStore(tx)
    const slots = Math.min(free, agent.effective_slots - keys.length)
    if (slots <= 0) return []
    const { only = null } = agent
    let picked = pick(only ? first.filter(({ principal }) => only.has(principal)) : first, keys, slots)
    if (picked.length < slots && first.length === firstReadLimit) {
      picked = pick(await queue.waitingOf(agent.id, secondReadLimit, only), keys, slots)
    }
    if (picked.length === 0) return []
    if (picked.length > maxRunsPerClaim) tx.onCommitted(() => deps.link.wake(agent.id))
    // Read after the queue, so that the previous run has ended in the record when this one starts.
    const now = clock.now()
    const claim = {
      token,
      at: timestamp(now),
      leaseExpiresAt: timestamp(secondsLater(now, leaseSeconds)),
    }
    const rows = await queue.claim(picked.slice(0, maxRunsPerClaim), claim)
    const claimed: ClaimedRuns = []
    for (const row of rows) {
      await events.append(tx, startedEvent(row), now)
      claimed.push({ row, turn: row.kind === 'chat' ? await turnOf(hooks, tx, row) : null })
      tx.onCommitted(() => {
        for (const hook of hooks.registered.claimed) hook(row, now)
        // A previous attempt may have stopped in the middle of a block.
        live.closed(row.id)
        live.changed(row.id)
        events.signal(activitySignal(row, 'started'))
      })
    }
    return claimed
  }

  /** Fails a run that cannot be assembled, so that it is not claimed again and again. */
  async function failRun(row: ExecutionRow, error: unknown): Promise<void> {
    log.error(
      { execution_id: row.id, agent: row.agent_name, err: error },
      'a claimed run could not be assembled',
    )
    await endRun(row, {
      status: 'failed',
      error: 'The platform could not hand the run out.',
      error_code: 'agent_error',
    })
  }

  /** Ends a claimed run that the agent does not get, and lets the agent claim its slot again. */
  async function endRun(row: ExecutionRow, ending: Ending): Promise<void> {
    const claimed = { statuses: ['running'], claimToken: row.claim_token ?? 0 } as const
    await db.atomically(async (tx) => {
      await settle(tx, row, claimed, ending)
      tx.onCommitted(() => deps.link.wake(row.agent_id))
    })
  }

  return {
    findClaimable,
    claim,

    async claimRuns(agent: Claimant, free: number): Promise<ClaimedRuns> {
      return db.atomicallyShared({ kind: 'claim', about: agent.id }, async (tx) => {
        const [queue] = await findClaimable(tx, agent.id, async () => {})
        return claim(tx, { agent, free }, queue)
      })
    },

    /** Assembles the claimed runs; those that cannot be assembled fail. */
    async answer(agent: Claimant, claimed: ClaimedRuns): Promise<ClaimAnswer> {
      if (claimed.length === 0) return { runs: [] }
      const [platformPrompt, callable, skills, keyOf] = await Promise.all([
        deps.platformPrompt(),
        runContexts.callableAgentNames(agent.id),
        runContexts.skillsBlock(agent.id),
        deps.runKeysOf(agent.id),
      ])
      const runs: Run[] = []
      const started: StartedRun[] = []
      let room = inlineAttachmentBytes
      for (const { row, turn } of claimed) {
        try {
          if (turn instanceof Error) throw turn
          const principal = await runContexts.principal(agent.id, row.principal ?? '')
          if ('ended' in principal) {
            // The principal has lost its access since the run was accepted.
            await endRun(row, {
              status: 'cancelled',
              error: principal.ended,
              error_code: 'access_ended',
            })
            continue
          }
          if (agent.only && principal.access !== 'owner') {
            // Its principal was the owner when the run was claimed.
            await db.atomically((tx) => queueStore(tx).requeue(row.id, row.claim_token ?? 0, row.restarts))
            continue
          }
          // Written by this feature when the run was accepted.
          const request = JSON.parse(row.request) as RequestSnapshot
          const attachments = request.attachments === 0 ? noAttachments : await attachmentsOf(db, row, room)
          room -= attachments.inlineBytes
          const broker = deps.brokerAccess(row)
          const parts = {
            request,
            platformPrompt,
            callable,
            skills,
            attachments,
            broker,
            principal,
            key: keyOf(row),
          }
          runs.push(runOf(row, turn, agent, parts))
          const isOwners = principal.access === 'owner'
          started.push({ id: row.id, mayWrite: isOwners || principal.access === 'write', isOwners })
        } catch (error) {
          await failRun(row, error)
        }
      }
      if (started.length > 0)
        await deps.recording?.started(agent.id, started).catch((error: unknown) => {
          log.warn({ err: error, agent: agent.name }, 'the records of started runs could not be noted')
        })
      return { runs }
    },
  }
}

/** The conversation's part of a turn; an error means that the turn cannot run. */
type Turn = TurnContext | Error | null

async function turnOf(hooks: RunHooks, tx: Tx, row: ExecutionRow): Promise<Turn> {
  for (const hook of hooks.registered.turn) {
    const turn = await hook(tx, row)
    if (turn) return turn
  }
  return new Error('The conversation of this turn was deleted.')
}

type Attachments = { list: RunAttachment[]; inlineBytes: number }
const noAttachments: Attachments = { list: [], inlineBytes: 0 }

async function attachmentsOf(db: Db, row: ExecutionRow, room: number): Promise<Attachments> {
  const list = await attachmentStore(db).of(row.id)
  const bytes = list.reduce((sum, { data_base64 }) => sum + data_base64.length, 0)
  if (bytes <= room) return { list, inlineBytes: bytes }
  return { list: list.map((attachment) => ({ ...attachment, data_base64: null })), inlineBytes: 0 }
}

function runOf(
  row: ExecutionRow,
  turn: TurnContext | null,
  agent: RunContext,
  parts: {
    request: RequestSnapshot
    platformPrompt: string | null
    callable: readonly string[]
    skills: string | null
    attachments: Attachments
    broker: Run['broker']
    principal: Run['principal']
    key: string
  },
): Run {
  const { request } = parts
  return {
    execution_id: row.id,
    claim_token: row.claim_token ?? 0,
    kind: row.kind,
    session_id: row.kind === 'chat' ? row.session_id : null,
    message: [request.note, turn ? turn.message : row.message].filter(Boolean).join('\n\n'),
    system_prompt: systemPrompt({
      row,
      request,
      agentName: agent.name,
      platformPrompt: parts.platformPrompt,
      customInstructions: agent.custom_instructions,
      skills: parts.skills,
      callable: parts.callable,
    }),
    model: row.model,
    allowed_tools: row.allowed_tools === null ? null : (JSON.parse(row.allowed_tools) as string[]),
    max_turns: request.max_turns,
    timeout_seconds: row.timeout_seconds,
    resume_session_id: turn ? turn.resumeSessionId : request.resume_session_id,
    attachments: parts.attachments.list,
    broker: parts.broker,
    principal: parts.principal,
    key: parts.key,
  }
}

/**
 * A piece of an attachment that did not fit the claim, at most `maxPieceBytes`. Null for an unknown
 * attachment.
 */
export async function readAttachment(
  db: Db,
  executionId: string,
  piece: { index: number; offset: number; length: number },
): Promise<{ data_base64: string; eof: boolean } | null> {
  const attachment = await attachmentStore(db).at(executionId, piece.index)
  if (!attachment) return null
  const bytes = Buffer.from(attachment.data_base64, 'base64')
  const end = Math.min(bytes.length, piece.offset + Math.min(piece.length, maxPieceBytes))
  return { data_base64: bytes.toString('base64', piece.offset, end), eof: end >= bytes.length }
}

/** Larger than a file chunk, far below the message limit. */
const maxPieceBytes = 8 * fileChunkBytes
