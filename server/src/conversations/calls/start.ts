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
import { type Dispatch, holderOf, sourceOf } from '../../runs/dispatch/index.ts'
import { executionStore, isFinal } from '../../runs/executions/index.ts'
import { accountOf } from './account.ts'
import { type CallingAgent, noNumber } from './binding.ts'
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
  /** Name of an agent, for calls that an agent asks for. */
  agentName(agentId: string): Promise<string | null>
  /** Under which the provider reaches the platform. */
  baseUrl: string
}

type Asked = { caller: SignedIn; agent: CallingAgent; body: StartCall }
type Accepted = { call: CallRow; ticket: string }

/** The provider is asked within this time, or its process has ended. */
const placingSeconds = 60
/** Beyond the time that it rings: the provider's word that nobody answers may be late or lost. */
const ringGraceSeconds = 30

export type Start = {
  /** Rings, once for each idempotency key. Throws what the endpoint says. */
  start(asked: Asked, key: string | undefined): Promise<Reply & { replayed: boolean }>
  /** For the store of idempotency keys: what has become of a call. */
  workState: WorkStateOf
}

export function createStart(deps: StartDeps): Start {
  const { db, clock, telephony, endings, idempotency } = deps
  const accept = createAccept(deps)

  async function place({ call, ticket }: Accepted): Promise<PlacedCall> {
    const { vault, baseUrl } = deps
    const { auth_token } = call
    if (auth_token === null) throw noNumber()
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

  async function placed(call: CallRow, providerCallId: string): Promise<void> {
    const deadline = timestamp(secondsLater(clock.now(), ringSeconds + ringGraceSeconds))
    if (await callStore(db).placed(call.id, providerCallId, deadline)) return
    // It may be spoken in already; or it was ended while the provider was asked, who must hear of that.
    const now = await callStore(db).find(call.id)
    if (now === null || now.state === 'ended') {
      endings.hangUp({ ...call, provider_call_id: providerCallId })
    }
  }

  /** The provider's answer. The record of a call that is not made says why, and its key is free again. */
  async function ring({ call, ticket }: Accepted, claim: Claim): Promise<string> {
    let answer: PlacedCall
    try {
      answer = await place({ call, ticket })
    } catch (error) {
      // Should it ring all the same, its sound is refused and the provider hangs up.
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
    async start(asked, key) {
      const scope = scopeOf('voip', `${asked.agent.id}:${holderOf(asked.caller)}`, key, asked.body)
      const entered = await idempotency.enter(scope, (claim) => accept(asked, claim))
      if (entered.replay) return { ...entered.replay, replayed: true }
      const { accepted, claim } = entered
      await placed(accepted.call, await ring(accepted, claim))
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

/** One attempt to take a call in, under a claim on its key. */
function createAccept({ db, clock, dispatch, agentName }: StartDeps) {
  return async function accept({ caller, agent, body }: Asked, claim: Claim): Promise<Accepted> {
    const fact = await dispatch.checkAgent(agent.id)
    const callingId = caller.kind === 'key' && caller.key.scope === 'agent' ? caller.key.agent_id : null
    const source = sourceOf(caller, callingId === null ? null : await agentName(callingId))
    const { ticket, hash } = newTicket(randomBytes)
    const executionId = newId()
    return db.atomically(async (tx) => {
      // One at a time for each agent: limit, cap and labels hold for twenty at once too.
      if (!(await agentStore(tx).lock(agent.id))) throw new Fault('agent_not_found')
      // First of all: the same request again is no other one that limits could refuse.
      await claim.take(tx, { execution_id: executionId })
      const binding = await enabledBinding(tx, agent.id)
      const now = clock.now()
      await refuseTwin(tx, agent, { label: body.dedup_label, now })
      await refuseTooSoon(tx, agent.id, now)
      await refuseTooMany(tx, agent, { cap: binding.daily_call_cap, now })
      await dispatch.recordRunning(tx, fact, {
        executionId,
        agentId: agent.id,
        kind: 'task',
        triggeredBy: 'voip',
        message: [`Call to ${body.to_number}`, ...(body.context === null ? [] : [body.context])].join('\n\n'),
        source,
        timeoutSeconds: maxCallSeconds,
      })
      const call = callRow({ binding, body, now }, { execution_id: executionId, source, ticket_hash: hash })
      await callStore(tx).insert(call)
      return { call, ticket }
    })
  }
}

async function enabledBinding(tx: Tx, agentId: string): Promise<BindingRow> {
  const binding = await bindingStore(tx).find(agentId)
  if (!binding) throw noNumber()
  if (binding.enabled === 0) throw new Fault('conflict', 'The calls of this agent are switched off.')
  return binding
}

async function refuseTwin(
  tx: Tx,
  agent: CallingAgent,
  { label, now }: { label: string | null; now: Date },
): Promise<void> {
  if (label === null) return
  const since = timestamp(secondsLater(now, -callLabelHours * 3600))
  const twin = await callStore(tx).withLabel(agent.id, label, since)
  if (!twin) return
  const detail = `The agent "${agent.name}" has made a call with this label already.`
  const { id: call_id, execution_id } = twin
  throw new Fault('already_exists', detail, { call_id, execution_id })
}

/**
 * Counted here and not in the store of other limits: under the agent's lock it is exact, and a repeated request does
 * not use it up.
 */
async function refuseTooSoon(tx: Tx, agentId: string, now: Date): Promise<void> {
  const { limit, windowSeconds } = rateRules.voipCall
  const oldest = await callStore(tx).createdBefore(agentId, limit)
  const wait = oldest === null ? 0 : Math.ceil((Date.parse(oldest) - now.getTime()) / 1000) + windowSeconds
  if (wait > 0) throw new Fault('rate_limited', undefined, { retry_after_seconds: wait })
}

async function refuseTooMany(
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
  made: { execution_id: string; source: object; ticket_hash: string },
): CallRow {
  const { agent_id, account_sid, auth_token, from_number, display_name } = binding
  return {
    ...{ id: newId(), agent_id, execution_id: made.execution_id, state: 'placing' },
    ...{ account_sid, auth_token, from_number, display_name },
    to_number: body.to_number,
    context: body.context,
    process_transcript: body.process_transcript ? 1 : 0,
    dedup_label: body.dedup_label,
    is_counted: 1,
    source: JSON.stringify(made.source),
    ticket_hash: made.ticket_hash,
    provider_call_id: null,
    is_over: 0,
    created_at: timestamp(now),
    answered_at: null,
    ended_at: null,
    deadline_at: timestamp(secondsLater(now, placingSeconds)),
    follow_up: 'none',
  }
}
