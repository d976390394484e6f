import type { AcceptedTask, CancelledTask, TaskBody, TaskReply } from '@roost/contracts/runs/tasks'
import {
  type Claim,
  type Idempotency,
  type Reply,
  scopeOf,
  type WorkStateOf,
} from '../../foundation/idempotency/index.ts'
import type { Clock } from '../../kit/clock.ts'
import { Fault } from '../../kit/fault.ts'
import type { Db, Tx } from '../../ports/database/port.ts'
import { checkFiles } from '../attachments/index.ts'
import { type Dispatch, holderOf, modelOf, sourceOf, triggerOf } from '../dispatch/index.ts'
import {
  type ExecutionRow,
  type Executions,
  executionStore,
  isFinal,
  type Reader,
} from '../executions/index.ts'
import { type Asking, createWait } from '../waiting/index.ts'
import { type JoinConversation, joinRequest } from './conversation.ts'
import { acceptedBody, cancelledBody, isSuccess, replyText, successBody } from './reply.ts'
import { mayName } from './rules.ts'

export type TasksDeps = {
  db: Db
  clock: Clock
  dispatch: Pick<Dispatch, 'checkAgent' | 'transaction' | 'enqueue'>
  executions: Pick<Executions, 'watch' | 'toolCalls'>
  idempotency: Pick<Idempotency, 'enter'>
  joinConversation: JoinConversation
  /** Name of an agent, for tasks that an agent gives another one. */
  agentName(agentId: string): Promise<string | null>
}

export type TaskAsked = {
  reader: Reader
  agentName: string
  body: TaskBody
  /** Asked through the MCP server. */
  viaMcp: boolean
  /** The idempotency key, when there is one. */
  key: string | undefined
}

/** A task that was taken in, or what the one before it with the same key was answered. */
export type TaskTaken =
  | { replay: null; row: ExecutionRow; position: number; claim: Claim }
  | { replay: Reply; row: null }

export type Tasks = {
  /**
   * Takes a task in, once for each key: everything that may be refused is refused before anything is kept.
   * Throws `request_in_progress`, `invalid_model`, `attachment_rejected`, `attachment_too_large`,
   * `validation_error`, `execution_not_found` (its parent), `session_not_found`, `conflict`,
   * `agent_not_running`, `circuit_open`, `queue_full`, `inter_agent_depth_exceeded`.
   */
  take(asked: TaskAsked): Promise<TaskTaken>
  /** What is answered at once. */
  accepted(task: { row: ExecutionRow; position: number }): AcceptedTask
  /** Waits for the end; the transcript is left out. Throws as `Wait` does. */
  finished(task: { row: ExecutionRow; claim: Claim }, asking: Asking): Promise<TaskReply | CancelledTask>
  /** A stored reply as it was given; the transcript is left out. */
  replayed(reply: Reply): Promise<unknown>
  /** A reply with its transcript, as JSON text. */
  text(reply: TaskReply, signal: AbortSignal): AsyncIterable<string>
  /** For the store of idempotency keys: what has become of a task. */
  workState: WorkStateOf
}

export function createTasks(deps: TasksDeps): Tasks {
  const { db, executions, idempotency } = deps
  const wait = createWait(deps)
  const accept = createAccept(deps)

  /** Kept once, with its run: a stored reply has neither these nor the transcript. */
  const withToolCalls = async (reply: TaskReply): Promise<TaskReply> => ({
    ...reply,
    tool_calls: await executions.toolCalls(db, reply.execution_id),
  })

  return {
    async take(asked) {
      const { caller, agentId } = asked.reader
      const scope = scopeOf('task', `${agentId}:${holderOf(caller)}`, asked.key, asked.body)
      const entered = await idempotency.enter(scope, (claim) => accept(asked, claim))
      if (entered.replay) return { replay: entered.replay, row: null }
      return { replay: null, ...entered.accepted, claim: entered.claim }
    },
    accepted: acceptedBody,
    async finished({ row, claim }, asking) {
      const ended = await wait(row, claim, asking)
      if (ended.status !== 'success') return cancelledBody(ended)
      const reply = successBody(ended)
      await claim.complete({ status: 200, body: reply })
      return withToolCalls(reply)
    },
    async replayed({ body }) {
      return isSuccess(body) ? withToolCalls(body) : body
    },
    text: (reply, signal) => replyText(db, reply, signal),
    async workState({ execution_id }) {
      const row = execution_id === null ? null : await executionStore(db).byId(execution_id)
      // A run of a loop says nothing yet of the loop, whose key it is; a call knows itself what it was answered.
      if (row?.kind !== 'task' || row.loop_id !== null || row.triggered_by === 'voip') return null
      if (!isFinal(row.status)) return { state: 'open' }
      if (row.status !== 'success') return { state: 'void' }
      return { state: 'done', reply: { status: 200, body: successBody(row) } }
    },
  }
}

/** One attempt to take a task in, under a claim on its key. */
function createAccept({ db, dispatch, joinConversation, agentName }: TasksDeps) {
  return async function accept(
    { reader, agentName: name, body, viaMcp }: TaskAsked,
    claim: Claim,
  ): Promise<{ row: ExecutionRow; position: number }> {
    const { caller, agentId } = reader
    const callingId = caller.kind === 'key' && caller.key.scope === 'agent' ? caller.key.agent_id : null
    const model = modelOf(body.model)
    const files = checkFiles(body.files)
    const join = joinRequest(body, callingId === agentId)
    await refuseUnknownParent(reader, body.parent_execution_id)
    const fact = await dispatch.checkAgent(agentId)
    const callingName = callingId === null ? null : await agentName(callingId)

    const takeIn = async (tx: Tx) => {
      const joined = join && (await joinConversation(tx, { caller, agent: { id: agentId, name } }, join))
      const accepted = await dispatch.enqueue(tx, fact, {
        agentId,
        kind: 'task',
        triggeredBy: triggerOf(caller, agentId, { way: 'manual', viaMcp }),
        message: body.message,
        source: sourceOf(caller, callingName),
        model,
        timeoutSeconds: body.timeout_seconds ?? null,
        systemPrompt: body.system_prompt ?? null,
        allowedTools: body.allowed_tools ?? null,
        maxTurns: body.max_turns ?? null,
        resumeSessionId: body.resume_session_id ?? null,
        sessionId: joined?.sessionId ?? null,
        attachments: files,
        links: { parentExecutionId: body.parent_execution_id ?? null },
      })
      await joined?.keep(accepted.row, files)
      const receipt = body.async_mode
        ? { status: 200, body: acceptedBody(accepted), receipt: true }
        : undefined
      await claim.take(tx, { execution_id: accepted.row.id }, receipt)
      return accepted
    }
    // A conversation may be that of another agent, which gave the task.
    return dispatch.transaction(takeIn, join ? undefined : { kind: 'accept', about: agentId })
  }

  /** A run is linked only below one that the caller knows of. */
  async function refuseUnknownParent(reader: Reader, id: string | null | undefined): Promise<void> {
    if (id == null) return
    const parent = await executionStore(db).byId(id)
    if (parent && mayName(reader, parent)) return
    throw new Fault('execution_not_found', 'There is no such execution to be the parent.')
  }
}
