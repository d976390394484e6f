import type { PushPayload } from '@roost/contracts/operations/push'
import { type RateLimits, rateRules } from '../../foundation/rate-limits/index.ts'
import type { Vault } from '../../foundation/vault/index.ts'
import type { SessionCaller } from '../../identity/access/caller.ts'
import { callerUser, type Users } from '../../identity/users/index.ts'
import { type Clock, secondsLater, timestamp } from '../../kit/clock.ts'
import { isFault } from '../../kit/fault.ts'
import type { Db } from '../../ports/database/port.ts'
import type { Log } from '../../ports/log.ts'
import type {
  PushMessage,
  PushOutcome,
  PushService,
  PushTarget,
  VapidKeys,
} from '../../ports/push-service/port.ts'
import type { OperatorQueue } from '../operator-queue/index.ts'
import { messageSeconds, payloadOf, retrySeconds } from './rules.ts'
import {
  contexts,
  type PushDeviceRow,
  type PushItemRow,
  type PushMessageRow,
  pushDeviceStore,
  pushQueueStore,
} from './store.ts'

export type DeliverDeps = {
  db: Db
  clock: Clock
  log: Pick<Log, 'error' | 'warn'>
  vault: Pick<Vault, 'open'>
  limits: Pick<RateLimits, 'use'>
  users: Pick<Users, 'find'>
  pushService: Pick<PushService, 'send'>
  items: Pick<OperatorQueue['view'], 'visible' | 'viewOf'>
  keys(): Promise<VapidKeys>
}

/** Longer than sending takes: after it another process repeats the message of one that died. */
const claimSeconds = 60
const itemsPerPass = 50
const messagesPerPass = 200
const concurrentMessages = 8

/** Decides who hears of new items, and sends what is due. */
export function createDelivery(deps: DeliverDeps) {
  const { db, clock, log, limits, users, items } = deps
  const devices = pushDeviceStore(db)
  const queue = pushQueueStore(db)
  const later = (seconds: number) => timestamp(secondsLater(clock.now(), seconds))

  /** The item, if the owner of the device may see it now and it still waits for an answer. */
  async function readable(device: Pick<PushDeviceRow, 'user_id' | 'session_id'>, itemId: string) {
    const account = await users.find(device.user_id)
    if (!account || account.suspended_at !== null) return null
    const caller: SessionCaller = {
      kind: 'session',
      user: callerUser(account),
      session: { jti: device.session_id, mode: 'email', expires_at: timestamp(clock.now()) },
    }
    const row = await items.visible(caller, itemId)
    return row?.status === 'pending' ? row : null
  }

  async function isWithinLimit(userId: string, agentId: string | null): Promise<boolean> {
    try {
      await limits.use(rateRules.push, `${userId}:${agentId ?? ''}`)
      return true
    } catch (error) {
      if (isFault(error, 'rate_limited')) return false
      throw error
    }
  }

  async function decide({ item_id, created_at }: PushItemRow): Promise<void> {
    const messages: PushMessageRow[] = []
    const expires_at = timestamp(secondsLater(new Date(created_at), messageSeconds))
    const due_at = timestamp(clock.now())
    for (const userId of await devices.userIds()) {
      const own = await devices.ofUser(userId)
      const [first] = own
      const item = first && (await readable(first, item_id))
      if (!item || !(await isWithinLimit(userId, item.agent_id))) continue
      messages.push(...own.map(({ id }) => ({ device_id: id, item_id, attempts: 0, due_at, expires_at })))
    }
    await db.atomically(async (tx) => {
      const store = pushQueueStore(tx)
      if (await store.removeItem(item_id)) await store.addMessages(messages)
    })
  }

  /** Sends to one device, and deletes a device that ended. */
  async function send(device: PushDeviceRow, message: PushMessage): Promise<PushOutcome> {
    const context = contexts.target(device.endpoint_hash)
    const target: PushTarget = JSON.parse(deps.vault.open(device.sealed_target, context))
    const outcome = await deps.pushService.send(target, message, await deps.keys())
    if (outcome.kind === 'gone') await db.atomically((tx) => pushDeviceStore(tx).removeAll([device.id]))
    else if (outcome.kind === 'accepted')
      await devices.note(device.id, { last_error: null, last_sent_at: timestamp(clock.now()) })
    else await devices.note(device.id, { last_error: outcome.reason })
    return outcome
  }

  async function deliver(message: PushMessageRow): Promise<void> {
    const device = await devices.byId(message.device_id)
    const item = device && (await readable(device, message.item_id))
    const ttlSeconds = Math.floor((Date.parse(message.expires_at) - clock.now().getTime()) / 1000)
    if (!device || !item || ttlSeconds <= 0) return queue.removeMessage(message)
    const { agent_name } = await items.viewOf(item)
    const isUrgent = item.priority === 'high' || item.priority === 'critical'
    const outcome = await send(device, messageOf(payloadOf(item, agent_name), { ttlSeconds, isUrgent }))
    if (outcome.kind !== 'failed') return queue.removeMessage(message)
    // A later end is not checked here: the next attempt removes an expired message.
    await queue.delay(message, later(retrySeconds(message.attempts + 1, outcome.afterSeconds)))
  }

  async function pass(signal: AbortSignal): Promise<void> {
    for (const item of await queue.dueItems(timestamp(clock.now()), itemsPerPass)) {
      if (signal.aborted) return
      if (await queue.claimItem(item, later(claimSeconds))) await decide(item)
    }
    const due = await queue.dueMessages(timestamp(clock.now()), messagesPerPass)
    const worker = async () => {
      for (let message = due.shift(); message && !signal.aborted; message = due.shift()) {
        if (await queue.claimMessage(message, later(claimSeconds))) await deliver(message)
      }
    }
    await Promise.all(Array.from({ length: concurrentMessages }, worker))
  }

  let running: Promise<void> | null = null
  let isAgain = false
  const stopping = new AbortController()

  async function run(): Promise<void> {
    do {
      isAgain = false
      await pass(stopping.signal)
    } while (isAgain && !stopping.signal.aborted)
  }

  return {
    send,
    pass,
    /** Starts a pass; during one, another follows. */
    wake(): void {
      isAgain = true
      running ??= run()
        .catch((error) => log.error({ err: error }, 'notifications could not be sent'))
        .finally(() => {
          running = null
        })
    },
    /** Resolves when no pass of `wake` runs. */
    async settled(): Promise<void> {
      while (running) await running
    },
    async close(): Promise<void> {
      stopping.abort()
      await running
    },
  }
}

export function messageOf(
  payload: PushPayload,
  { ttlSeconds, isUrgent }: { ttlSeconds: number; isUrgent: boolean },
): PushMessage {
  return {
    payload: JSON.stringify(payload),
    ttlSeconds,
    // Ids are 22 base64url characters, within the limit of 32.
    topic: payload.item ?? 'test',
    urgency: isUrgent ? 'high' : 'normal',
  }
}
