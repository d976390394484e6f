import { randomBytes } from 'node:crypto'
import {
  callLabelHours,
  maxCallSeconds,
  ringSeconds,
  type StartCall,
  type StartedCall,
} from '@roost/contracts/conversations/calls'
import { agentStore } from '../../agents/records/index.ts'
import {
  type Claim,
  type Idempotency,
  type Reply,
  scopeOf,
  type WorkStateOf,
} from '../../foundation/idempotency/index.ts'
import { rateRules } from '../../foundation/rate-limits/index.ts'
import type { Vault } from '../../foundation/vault/index.ts'
import type { SignedIn } from '../../identity/access/index.ts'
import { type Clock, secondsLater, timestamp } from '../../kit/clock.ts'
import { Fault, invalidField } from '../../kit/fault.ts'
import { newId } from '../../kit/ids.ts'
import type { Db, Tx } from '../../ports/database/port.ts'
import { type PlacedCall, type Telephony, TelephonyDown } from '../../ports/telephony/port.ts'
import { callerDepth, type Dispatch, holderOf, sourceOf } from '../../runs/dispatch/index.ts'
import { executionStore, isFinal } from '../../runs/executions/index.ts'
import { accountOf } from './account.ts'
import { accountMissing, type CallingAgent } from './binding.ts'
import type { End } from './end.ts'
import { dayStart, secondsToMidnight } from './rules.ts'
import { type BindingRow, bindingStore, type CallRow, callStore } from './store.ts'
import { newTicket } from './ticket.ts'

export type StartDeps = {
  db: Db
  clock: Pick<Clock, 'now'>
  vault: Vault
  idempotency: Pick<Idempotency, 'enter'>
  dispatch: Pick<Dispatch, 'checkAgent' | 'recordRunning'>
  telephony: Pick<Telephony, 'place'>
  endings: Pick<End, 'end' | 'hangUp'>
  /** The name of an agent, for calls that an agent starts. */
  agentName(agentId: string): Promise<string | null>
  /** The address at which the provider reaches the platform. */
  baseUrl: string
}

type CallRequest = { caller: SignedIn; agent: CallingAgent; body: StartCall }
type Accepted = { call: CallRow; ticket: string }

/** Deadline for the provider's response; after it the process counts as crashed. */
const placingSeconds = 60
/** Extra time after ringing, because the provider's status may be late or lost. */
const ringGraceSeconds = 30

export type Start = {
  /** Places the call, once for each idempotency key. Throws the endpoint's faults. */
  start(request: CallRequest, key: string | undefined): Promise<Reply & { replayed: boolean }>
  /** Reports the state of a call to the idempotency store. */
  workState: WorkStateOf
}

export function createStart(deps: StartDeps): Start {
  const { db, clock, telephony, endings, idempotency } = deps
  const accept = createAccept(deps)

  async function place({ call, ticket }: Accepted): Promise<PlacedCall> {
    const { vault, baseUrl } = deps
    const { auth_token } = call
    if (auth_token === null) throw accountMissing()
    return telephony.place(accountOf(vault, { ...call, auth_token }), {
      to: call.to_number,
      from: call.from_number,
      mediaUrl: `${baseUrl.replace(/^http/, 'ws')}/api/public/voip/media/${call.id}`,
      ticket,
      statusUrl: `${baseUrl}/api/public/voip/status/${call.id}`,
      ringSeconds,
      maxSeconds: maxCallSeconds,
    })
  }

  async function markPlaced(call: CallRow, providerCallId: string): Promise<void> {
    const deadline = timestamp(secondsLater(clock.now(), ringSeconds + ringGraceSeconds))
    if (await callStore(db).markPlaced(call.id, providerCallId, deadline)) return
    // The call may be connected already. If it ended during the request, the provider must hang up.
    const now = await callStore(db).find(call.id)
    if (now === null || now.state === 'ended') {
      endings.hangUp({ ...call, provider_call_id: providerCallId })
    }
  }

  /** Places the call. On failure it ends the call's execution and releases the key. */
  async function ring({ call, ticket }: Accepted, claim: Claim): Promise<string> {
    let answer: PlacedCall
    try {
      answer = await place({ call, ticket })
    } catch (error) {
      // If the phone rings anyway, the media stream is refused and the provider hangs up.
      await endings.end(call.id, 'unreachable')
      await claim.release()
      if (!(error instanceof TelephonyDown)) throw error
      const { execution_id } = call
      throw new Fault('upstream_error', error.message, { execution_id }, { cause: error })
    }
    if (answer.ok) return answer.providerCallId
    await endings.end(call.id, 'refused', answer.refused)
    await claim.release()
    throw invalidField(['to_number'], `the provider refused the call: ${answer.refused}`)
  }

  return {
    async start(request, key) {
      const scope = scopeOf('voip', `${request.agent.id}:${holderOf(request.caller)}`, key, request.body)
      const entered = await idempotency.enter(scope, (claim) => accept(request, claim))
      if (entered.replay) return { ...entered.replay, replayed: true }
      const { accepted, claim } = entered
      await markPlaced(accepted.call, await ring(accepted, claim))
      const reply: Reply = { status: 200, body: startedOf(accepted.call), receipt: true }
      await claim.complete(reply)
      return { ...reply, replayed: false }
    },

    async workState({ execution_id }) {
      const call = execution_id === null ? null : await callStore(db).ofExecution(execution_id)
      if (!call) return null
      const row = await executionStore(db).byId(call.execution_id)
      if (row && !isFinal(row.status)) return { state: 'open' }
      if (row?.status !== 'success') return { state: 'void' }
      return { state: 'done', reply: { status: 200, body: startedOf(call), receipt: true } }
    },
  }
}

function startedOf({ id, execution_id, to_number }: CallRow): StartedCall {
  return { status: 'ringing', call_id: id, execution_id, to_number }
}

/** Accepts one call, under the claim of its idempotency key. */
function createAccept({ db, clock, dispatch, agentName }: StartDeps) {
  return async function accept({ caller, agent, body }: CallRequest, claim: Claim): Promise<Accepted> {
    const agentContext = await dispatch.checkAgent(agent.id)
    const callingId = caller.kind === 'key' && caller.key.scope === 'agent' ? caller.key.agent_id : null
    const named = sourceOf(caller, callingId === null ? null : await agentName(callingId))
    const isOfAnother = callingId !== null && callingId !== agent.id
    const source = { ...named, depth: (await callerDepth(db, named)) + (isOfAnother ? 1 : 0) }
    const { ticket, hash } = newTicket(randomBytes)
    const executionId = newId()
    return db.atomically(async (tx) => {
      // The lock serializes the calls of an agent, so limit, cap and labels hold under concurrency.
      if (!(await agentStore(tx).lock(agent.id))) throw new Fault('agent_not_found')
      // Claim first: a repeated request must replay, not hit the limits.
      await claim.take(tx, { execution_id: executionId })
      const binding = await enabledBinding(tx, agent.id)
      const now = clock.now()
      await refuseDuplicateLabel(tx, agent, { label: body.dedup_label, now: now })
      await enforceRateLimit(tx, agent.id, now)
      await enforceDailyCap(tx, agent, { cap: binding.daily_call_cap, now: now })
      await dispatch.recordRunning(tx, agentContext, {
        executionId,
        agentId: agent.id,
        kind: 'task',
        triggeredBy: 'voip',
        message: [`Call to ${body.to_number}`, ...(body.context === null ? [] : [body.context])].join('\n\n'),
        source,
        timeoutSeconds: maxCallSeconds,
      })
      const call = callRow(
        { binding, body, now: now },
        { execution_id: executionId, source, ticket_hash: hash },
      )
      await callStore(tx).insert(call)
      return { call, ticket }
    })
  }
}

async function enabledBinding(tx: Tx, agentId: string): Promise<BindingRow> {
  const binding = await bindingStore(tx).find(agentId)
  if (!binding) throw accountMissing()
  if (binding.enabled === 0) throw new Fault('conflict', 'The calls of this agent are switched off.')
  return binding
}

async function refuseDuplicateLabel(
  tx: Tx,
  agent: CallingAgent,
  { label, now }: { label: string | null; now: Date },
): Promise<void> {
  if (label === null) return
  const since = timestamp(secondsLater(now, -callLabelHours * 3600))
  const duplicate = await callStore(tx).withLabel(agent.id, label, since)
  if (!duplicate) return
  const detail = `The agent "${agent.name}" has made a call with this label already.`
  const { id: call_id, execution_id } = duplicate
  throw new Fault('already_exists', detail, { call_id, execution_id })
}

/** Counted under the agent's lock and not in the shared rate limiter: exact, and free for repeated requests. */
async function enforceRateLimit(tx: Tx, agentId: string, now: Date): Promise<void> {
  const { limit, windowSeconds } = rateRules.voipCall
  const oldest = await callStore(tx).createdBefore(agentId, limit)
  const wait = oldest === null ? 0 : Math.ceil((Date.parse(oldest) - now.getTime()) / 1000) + windowSeconds
  if (wait > 0) throw new Fault('rate_limited', undefined, { retry_after_seconds: wait })
}

async function enforceDailyCap(
  tx: Tx,
  agent: CallingAgent,
  { cap, now }: { cap: number; now: Date },
): Promise<void> {
  if ((await callStore(tx).countSince(agent.id, dayStart(now))) < cap) return
  const detail = `The agent "${agent.name}" has made its ${cap} calls of this day (UTC).`
  throw new Fault('daily_cap_reached', detail, { retry_after_seconds: secondsToMidnight(now) })
}

function callRow(
  { binding, body, now }: { binding: BindingRow; body: StartCall; now: Date },
  ids: { execution_id: string; source: object; ticket_hash: string },
): CallRow {
  const { agent_id, account_sid, auth_token, from_number, display_name } = binding
  return {
    ...{ id: newId(), agent_id, execution_id: ids.execution_id, state: 'placing' },
    ...{ account_sid, auth_token, from_number, display_name },
    to_number: body.to_number,
    context: body.context,
    process_transcript: body.process_transcript ? 1 : 0,
    dedup_label: body.dedup_label,
    is_counted: 1,
    source: JSON.stringify(ids.source),
    ticket_hash: ids.ticket_hash,
    provider_call_id: null,
    is_over: 0,
    created_at: timestamp(now),
    answered_at: null,
    ended_at: null,
    deadline_at: timestamp(secondsLater(now, placingSeconds)),
    follow_up: 'none',
  }
}
