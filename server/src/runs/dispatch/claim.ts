import { fileChunkBytes, leaseSeconds, maxMessageBytes } from '@roost/contracts/link/messages'
import type { ClaimAnswer, Run, RunAttachment } from '@roost/contracts/link/runs'
import type { RunContext, RunContexts } from '../../agents/run-context/index.ts'
import type { Outbox } from '../../foundation/outbox/index.ts'
import { type Clock, secondsLater, timestamp } from '../../kit/clock.ts'
import type { AgentLink } from '../../ports/agent-link/port.ts'
import type { Db, Tx } from '../../ports/database/port.ts'
import type { Log } from '../../ports/log.ts'
import {
  activitySignal,
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
  facts: RunContexts
  link: Pick<AgentLink, 'wake'>
  /** Where the run's model traffic goes, and the token that is good for it alone. */
  brokerAccess(row: ExecutionRow): Run['broker']
  /** The operator's part of every system prompt. */
  platformPrompt(): Promise<string | null>
}

/** So many of the waiting runs are looked at first. */
const lookFirst = 20
/** And so many when they do not fill the slots: turns of busy conversations are passed by. */
const lookAt = 500
/** Runs of one answer: their longest messages and prompts together stay within one message of the link. */
const maxRunsPerClaim = 8
/** Half of a message is for attachments, the other half for what else a claim says. */
const inlineAttachmentBytes = maxMessageBytes / 2

/** What may be handed out, read while the agent's queue is held. */
export type Line = { token: number; keys: (string | null)[]; first: Waiting[]; isClosed: boolean }
/** Runs that were handed out and are not put together yet. */
export type Taken = { row: ExecutionRow; turn: Turn }[]

/**
 * Hands waiting runs to their agent, under a lease and a claim token that grows. The agent's queue is held
 * while slots are counted, so that with any number of claimers no slot is given twice and the order holds.
 */
export function createClaim(deps: ClaimDeps) {
  const { db, clock, log, events, live, hooks, facts, settle } = deps

  /** Sent together: `before` is done once the queue is held, and what is read is read after that. */
  async function findClaimable<T>(tx: Tx, agentId: string, before: () => Promise<T>): Promise<[Line, T]> {
    const queue = queueStore(tx)
    const [token, done, keys, first, isClosed] = await Promise.all([
      queue.lockQueue(agentId),
      before(),
      queue.runningKeys(agentId),
      queue.waitingOf(agentId, lookFirst),
      // Whoever stops the agent holds its queue as well: what it ends is not begun anew by the claim behind.
      facts.isStopRequested(tx, agentId),
    ])
    return [{ token, keys, first, isClosed }, done]
  }

  async function claim(
    tx: Tx,
    { agent, free }: { agent: RunContext; free: number },
    { token, keys, first, isClosed }: Line,
  ): Promise<Taken> {
    if (isClosed) return []
    const queue = queueStore(tx)
    const slots = Math.min(free, agent.effective_slots - keys.length)
    if (slots <= 0) return []
    let picked = pick(first, keys, slots)
    if (picked.length < slots && first.length === lookFirst) {
      picked = pick(await queue.waitingOf(agent.id, lookAt), keys, slots)
    }
    if (picked.length === 0) return []
    if (picked.length > maxRunsPerClaim) tx.onCommitted(() => deps.link.wake(agent.id))
    // Not before the look: a slot is free in the record, too, when the next run starts.
    const now = clock.now()
    const claim = {
      token,
      at: timestamp(now),
      leaseExpiresAt: timestamp(secondsLater(now, leaseSeconds)),
    }
    const rows = await queue.claim(picked.slice(0, maxRunsPerClaim), claim)
    const taken: Taken = []
    for (const row of rows) {
      await events.append(tx, startedEvent(row), now)
      taken.push({ row, turn: row.kind === 'chat' ? await turnOf(hooks, tx, row) : null })
      tx.onCommitted(() => {
        // An attempt before may have broken off in the middle of a block.
        live.closed(row.id)
        live.changed(row.id)
        events.signal(activitySignal(row, 'started'))
      })
    }
    return taken
  }

  /** A run that cannot be put together ends as failed, so that it does not come back for ever. */
  async function giveUp(row: ExecutionRow, error: unknown): Promise<void> {
    log.error({ execution_id: row.id, agent: row.agent_name, err: error }, 'a run could not be handed out')
    await db.atomically((tx) =>
      settle(
        tx,
        row,
        { statuses: ['running'], claimToken: row.claim_token ?? 0 },
        {
          status: 'failed',
          error: 'The platform could not hand the run out.',
          error_code: 'agent_error',
        },
      ),
    )
  }

  return {
    findClaimable,
    claim,

    async take(agent: RunContext, free: number): Promise<Taken> {
      return db.atomicallyShared({ kind: 'claim', about: agent.id }, async (tx) => {
        const [line] = await findClaimable(tx, agent.id, async () => {})
        return claim(tx, { agent, free }, line)
      })
    },

    /** Puts together what was taken; what cannot be put together ends. */
    async answer(agent: RunContext, taken: Taken): Promise<ClaimAnswer> {
      if (taken.length === 0) return { runs: [] }
      const [platformPrompt, callable, skills] = await Promise.all([
        deps.platformPrompt(),
        facts.callableAgentNames(agent.id),
        facts.skillsBlock(agent.id),
      ])
      const runs: Run[] = []
      let room = inlineAttachmentBytes
      for (const { row, turn } of taken) {
        try {
          if (turn instanceof Error) throw turn
          // Written by this feature when the run was accepted.
          const request = JSON.parse(row.request) as RequestSnapshot
          const attachments = request.attachments === 0 ? none : await attachmentsOf(db, row, room)
          room -= attachments.inlineBytes
          const broker = deps.brokerAccess(row)
          const given = { request, platformPrompt, callable, skills, attachments, broker }
          runs.push(runOf(row, turn, agent, given))
        } catch (error) {
          await giveUp(row, error)
        }
      }
      return { runs }
    },
  }
}

/** What the conversation says of the turn; an error stands for a turn that cannot be taken. */
type Turn = TurnContext | Error | null

async function turnOf(hooks: RunHooks, tx: Tx, row: ExecutionRow): Promise<Turn> {
  for (const hook of hooks.registered.turn) {
    const turn = await hook(tx, row)
    if (turn) return turn
  }
  return new Error('The conversation of this turn is gone.')
}

type Attachments = { list: RunAttachment[]; inlineBytes: number }
const none: Attachments = { list: [], inlineBytes: 0 }

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
  given: {
    request: RequestSnapshot
    platformPrompt: string | null
    callable: readonly string[]
    skills: string | null
    attachments: Attachments
    broker: Run['broker']
  },
): Run {
  const { request } = given
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
      platformPrompt: given.platformPrompt,
      customInstructions: agent.custom_instructions,
      skills: given.skills,
      callable: given.callable,
    }),
    model: row.model,
    allowed_tools: row.allowed_tools === null ? null : (JSON.parse(row.allowed_tools) as string[]),
    max_turns: request.max_turns,
    timeout_seconds: row.timeout_seconds,
    resume_session_id: turn ? turn.resumeSessionId : request.resume_session_id,
    attachments: given.attachments.list,
    broker: given.broker,
  }
}

/** A piece of an attachment that did not fit the claim; at most `fileChunkBytes` at a time. Null: no such one. */
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

/** Larger than a file's chunk, far below what a message may hold. */
const maxPieceBytes = 8 * fileChunkBytes
