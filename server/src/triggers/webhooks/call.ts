import { maxWebhookBody, type WebhookCall } from '@roost/contracts/triggers/webhooks'
import type { AgentRecords } from '../../agents/records/index.ts'
import { type Claim, type Idempotency, type Reply, scopeOf } from '../../foundation/idempotency/index.ts'
import type { RateLimits, RateRule } from '../../foundation/rate-limits/index.ts'
import type { Vault } from '../../foundation/vault/index.ts'
import { type Clock, timestamp } from '../../kit/clock.ts'
import { Fault } from '../../kit/fault.ts'
import type { Db, Tx } from '../../ports/database/port.ts'
import type { Schedule } from '../schedules/index.ts'
import { checkSignature, derivedKey, tokenHash } from './rules.ts'
import { secretContext } from './service.ts'
import { webhookStore } from './store.ts'

/** Fires a schedule for a webhook; `keep` runs in the transaction that records the run. */
export type FireForWebhook = (
  schedule: Schedule,
  call: {
    context: string | null
    metadata: Record<string, unknown> | null
    keep(tx: Tx, executionId: string): Promise<void>
  },
) => Promise<void>

export type CallDeps = {
  db: Db
  clock: Pick<Clock, 'now'>
  vault: Pick<Vault, 'open'>
  limits: Pick<RateLimits, 'use'>
  idempotency: Pick<Idempotency, 'enter'>
  agentRecords: Pick<AgentRecords, 'byId'>
  fire: FireForWebhook
  /** Calls per minute. */
  rates: { perToken: number; perAddress: number }
}

export type WebhookRequest = {
  token: string
  /** The raw bytes, which the signature covers. */
  body: Uint8Array
  ip: string
  key: string | undefined
  signature: string | undefined
  time: string | undefined
  /** Parses the body; throws the 422 that names the invalid field. */
  read(): WebhookCall
  /** Called as soon as the schedule is known. */
  about(schedule: Schedule, agentName: string): void
}

export type Triggered = {
  status: 'triggered'
  schedule_id: string
  agent_name: string
  execution_id: string
  message: string
}

/**
 * Handles a call of a webhook. Cheaper checks come first: address, token, its rate, size, signature, shape, key.
 * Throws the faults of the endpoint `callWebhook`.
 */
export function createCallWebhook(deps: CallDeps) {
  const { db, clock, vault, limits, idempotency, agentRecords } = deps
  // `open`: while the ephemeral store is down, no call is refused.
  const perAddress: RateRule = { ...ruleOf('webhook-address', deps.rates.perAddress), perClient: true }
  const perToken = ruleOf('webhook-token', deps.rates.perToken)

  async function find(token: string) {
    const hash = tokenHash(token)
    const called = hash === null ? null : await webhookStore(db).byToken(hash)
    const agent = called && (await agentRecords.byId(called.agent_id))
    if (hash === null || !called || !agent) throw new Fault('webhook_not_found')
    return { hash, called, agentName: agent.name }
  }

  return async function call(request: WebhookRequest): Promise<Reply & { isReplay: boolean }> {
    const { token, body } = request
    await limits.use(perAddress, request.ip)
    const { hash, called, agentName } = await find(token)
    const { webhook_secret_sealed: sealed, webhook_signs_time, ...schedule } = called
    request.about(schedule, agentName)
    await limits.use(perToken, hash)
    if (body.length > maxWebhookBody) {
      throw new Fault('body_too_large', `The body of a webhook is at most ${maxWebhookBody} bytes.`)
    }
    if (sealed !== null) {
      const secret = vault.open(sealed, secretContext(schedule.id))
      checkSignature(request, { secret, signsTime: webhook_signs_time === 1, now: clock.now() })
    }
    const { context = null, metadata = null } = body.length === 0 ? {} : request.read()
    const scope = scopeOf('webhook', hash, request.key ?? derivedKey(token, body))
    const entered = await idempotency.enter(scope, (claim) => {
      const known = { schedule, agentName, hash }
      return accept(known, { context, metadata }, claim)
    })
    if (entered.replay) return { ...entered.replay, isReplay: true }
    return { status: 202, body: entered.accepted, isReplay: false }
  }

  async function accept(
    { schedule, agentName, hash }: { schedule: Schedule; agentName: string; hash: string },
    call: { context: string | null; metadata: Record<string, unknown> | null },
    claim: Claim,
  ): Promise<Triggered> {
    let reply: Triggered | null = null
    let refusal: { error: unknown } | null = null
    const keep = async (tx: Tx, executionId: string) => {
      reply = triggered(schedule, agentName, executionId)
      refusal = null
      try {
        await claim.take(tx, { execution_id: executionId }, { status: 202, body: reply, receipt: true })
      } catch (error) {
        refusal = { error }
        throw error
      }
      // A token that was revoked or rotated since the lookup must not fire.
      const isLive = await webhookStore(tx).markCalled(hash, timestamp(clock.now()))
      if (!isLive) throw new Fault('webhook_not_found')
    }
    await deps.fire(schedule, { ...call, keep }).catch((error: unknown) => {
      // The refusal of the key decides the response, whatever the outcome of the fire.
      throw refusal ? (refusal as { error: unknown }).error : error
    })
    if (reply === null) throw new Error('A fire reported success without a run.')
    return reply
  }
}

function triggered(schedule: Schedule, agentName: string, executionId: string): Triggered {
  return {
    status: 'triggered',
    schedule_id: schedule.id,
    agent_name: agentName,
    execution_id: executionId,
    message: `Schedule "${schedule.name}" was triggered.`,
  }
}

function ruleOf(name: string, limit: number): RateRule {
  return { name, limit, windowSeconds: 60, whenDown: 'open' }
}
