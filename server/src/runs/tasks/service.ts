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
  createWait,
  type ExecutionRow,
  type Executions,
  executionStore,
  isFinal,
  type Reader,
  type WaitOptions,
} from '../executions/index.ts'
import { type JoinConversation, joinRequest } from './conversation.ts'
import { acceptedBody, cancelledBody, isSuccess, replyText, successBody } from './reply.ts'
import { mayName } from './rules.ts'

export type TasksDeps = {
  db: Db
  clock: Clock
  dispatch: Pick<Dispatch, 'checkAgent' | 'transaction' | 'enqueue'>
  executions: Pick<Executions, 'untilEnd' | 'toolCalls'>
  idempotency: Pick<Idempotency, 'enter'>
  joinConversation: JoinConversation
  /** Name of an agent, for tasks that an agent gives to another one. */
  agentName(agentId: string): Promise<string | null>
}

export type TaskRequest = {
  reader: Reader
  agentName: string
  body: TaskBody
  /** True for requests through the MCP server. */
  viaMcp: boolean
  /** The idempotency key, if any. */
  key: string | undefined
}

/** An accepted task, or the stored reply of an earlier one with the same key. */
export type TaskOutcome =
  | { replay: null; row: ExecutionRow; position: number; claim: Claim }
  | { replay: Reply; row: null }

export type Tasks = {
  /**
   * Accepts a task, once per key; every check comes before the first write. Throws `request_in_progress`, the
   * errors of `modelOf`, `checkFiles`, `joinRequest`, `JoinConversation` and `Accept`, and `execution_not_found`
   * for an unknown parent.
   */
  accept(request: TaskRequest): Promise<TaskOutcome>
  /** The immediate response of an async task. */
  accepted(task: { row: ExecutionRow; position: number }): AcceptedTask
  /** Waits for the end; omits the transcript. Throws the errors of `Wait`. */
  finished(
    task: { row: ExecutionRow; claim: Claim },
    options: WaitOptions,
  ): Promise<TaskReply | CancelledTask>
  /** A stored reply without its transcript. */
  replayed(reply: Reply): Promise<unknown>
  /** A reply with its transcript, as JSON text. */
  text(reply: TaskReply, signal: AbortSignal): AsyncIterable<string>
  /** For the store of idempotency keys: the state of a task. */
  workState: WorkStateOf
}

export function createTasks(deps: TasksDeps): Tasks {
  const { db, executions, idempotency } = deps
  const wait = createWait(deps)
  const acceptTask = createAccept(deps)

  /** Stored replies omit tool calls and transcript, which are stored with the run. */
  const withToolCalls = async (reply: TaskReply): Promise<TaskReply> => ({
    ...reply,
    tool_calls: await executions.toolCalls(db, reply.execution_id),
  })

  return {
    async accept(request) {
      const { caller, agentId } = request.reader
      const scope = scopeOf('task', `${agentId}:${holderOf(caller)}`, request.key, request.body)
      const entered = await idempotency.enter(scope, (claim) => acceptTask(request, claim))
      if (entered.replay) return { replay: entered.replay, row: null }
      return { replay: null, ...entered.accepted, claim: entered.claim }
    },
    accepted: acceptedBody,
    async finished({ row, claim }, options) {
      const ended = await wait(row, claim, options)
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
      // A loop's key depends on the loop, not on one run. A call knows its own answer.
      if (row?.kind !== 'task' || row.loop_id !== null || row.triggered_by === 'voip') return null
      if (!isFinal(row.status)) return { state: 'open' }
      if (row.status !== 'success') return { state: 'void' }
      return { state: 'done', reply: { status: 200, body: successBody(row) } }
    },
  }
}

/** One attempt to accept a task, under a claim on its key. */
function createAccept({ db, dispatch, joinConversation, agentName }: TasksDeps) {
  return async function accept(
    { reader, agentName: name, body, viaMcp }: TaskRequest,
    claim: Claim,
  ): Promise<{ row: ExecutionRow; position: number }> {
    const { caller, agentId } = reader
    const callingId = caller.kind === 'key' && caller.key.scope === 'agent' ? caller.key.agent_id : null
    const model = modelOf(body.model)
    const files = checkFiles(body.files)
    const join = joinRequest(body, callingId === agentId)
    await refuseUnknownParent(reader, body.parent_execution_id)
    const agent = await dispatch.checkAgent(agentId)
    const callingName = callingId === null ? null : await agentName(callingId)

    const enqueue = async (tx: Tx) => {
      const joined = join && (await joinConversation(tx, { caller, agent: { id: agentId, name } }, join))
      const accepted = await dispatch.enqueue(tx, agent, {
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
    // The conversation may belong to another agent, which gave the task.
    return dispatch.transaction(enqueue, join ? undefined : { kind: 'accept', about: agentId })
  }

  /** Requires a parent run that the caller may name. */
  async function refuseUnknownParent(reader: Reader, id: string | null | undefined): Promise<void> {
    if (id == null) return
    const parent = await executionStore(db).byId(id)
    if (parent && mayName(reader, parent)) return
    throw new Fault('execution_not_found', 'There is no such execution to be the parent.')
  }
}
