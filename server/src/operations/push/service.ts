import { createHash } from 'node:crypto'
import {
  mostPushDevices,
  type PushDevice,
  type PutPushDevice,
  pushDeviceDays,
} from '@roost/contracts/operations/push'
import type { Loop } from '../../background/loops.ts'
import type { Outbox } from '../../foundation/outbox/index.ts'
import { rateRules } from '../../foundation/rate-limits/index.ts'
import type { Vault } from '../../foundation/vault/index.ts'
import type { SignedIn } from '../../identity/access/caller.ts'
import type { EndedSessions, Sessions } from '../../identity/sessions/index.ts'
import { secondsLater, timestamp } from '../../kit/clock.ts'
import { Fault, invalidField } from '../../kit/fault.ts'
import { newId } from '../../kit/ids.ts'
import type { Tx } from '../../ports/database/port.ts'
import type { PushService, PushTarget, VapidKeys } from '../../ports/push-service/port.ts'
import { createDelivery, type DeliverDeps, messageOf } from './deliver.ts'
import { testPayload } from './rules.ts'
import { contexts, type PushDeviceRow, pushDeviceStore, pushKeyStore, pushQueueStore } from './store.ts'

export type PushDeps = Omit<DeliverDeps, 'keys' | 'pushService' | 'vault'> & {
  vault: Pick<Vault, 'seal' | 'open'>
  events: Pick<Outbox, 'on'>
  sessions: Pick<Sessions, 'holdOpen'>
  pushService: PushService
}

export type Push = {
  publicKey(): Promise<string>
  list(caller: SignedIn): Promise<PushDevice[]>
  /** Throws `validation_error` for an endpoint with a private address, `rate_limited`, `human_only`, `invalid_token`. */
  put(caller: SignedIn, body: PutPushDevice): Promise<PushDevice>
  /** Throws `not_found`. */
  remove(caller: SignedIn, id: string): Promise<void>
  /** Throws `not_found`, `rate_limited`. */
  test(caller: SignedIn, id: string): Promise<{ accepted: boolean; reason: string | null }>
  /** Called in the transaction that stores a new item of the inbox. */
  itemAdded(tx: Tx, itemId: string): Promise<void>
  /** Called in the transaction that ends sessions. */
  sessionsEnded(tx: Tx, ended: EndedSessions): Promise<void>
  loops: Loop[]
  /** Resolves when no notification is being sent. */
  settled(): Promise<void>
  close(): Promise<void>
}

const testSeconds = 300

export function createPush(deps: PushDeps): Push {
  const { db, clock, vault, limits, pushService } = deps
  const devices = pushDeviceStore(db)
  const delivery = createDelivery({ ...deps, keys })
  const stopListening = deps.events.on('operator_queue.new', () => delivery.wake())

  /** All processes use the pair that the first one stored. */
  async function keys(): Promise<VapidKeys> {
    const store = pushKeyStore(db)
    let row = await store.read()
    if (!row) {
      const { publicKey, privateKey } = pushService.createKeys()
      await store.insertOnce({
        public_key: publicKey,
        sealed_private_key: vault.seal(privateKey, contexts.privateKey),
        created_at: timestamp(clock.now()),
      })
      row = await store.read()
    }
    if (!row) throw new Error('The key pair for notifications was not stored.')
    return {
      publicKey: row.public_key,
      privateKey: vault.open(row.sealed_private_key, contexts.privateKey),
    }
  }

  async function own(caller: SignedIn, id: string): Promise<PushDeviceRow> {
    const row = await devices.byId(id)
    if (row?.user_id !== caller.user.id) throw new Fault('not_found', 'There is no such device.')
    return row
  }

  return {
    publicKey: async () => (await keys()).publicKey,

    list: async ({ user }) => (await devices.ofUser(user.id)).map(view),

    async put(caller, { name, endpoint, keys: { p256dh, auth } }) {
      if (caller.kind !== 'session') throw new Fault('human_only')
      await limits.use(rateRules.pushDevice, caller.user.id)
      const target: PushTarget = { endpoint, p256dh, auth }
      const problem = await pushService.problemOf(target)
      if (problem === 'inner_address') throw invalidField(['endpoint'], 'must not lead to a private address')
      if (problem === 'invalid_key')
        throw invalidField(['keys', 'p256dh'], 'must be a point on the curve P-256')
      const endpoint_hash = createHash('sha256').update(endpoint).digest('base64url')
      const now = timestamp(clock.now())
      const row = await db.atomically(async (tx) => {
        const store = pushDeviceStore(tx)
        if (!(await deps.sessions.holdOpen(tx, caller.session.jti))) throw new Fault('invalid_token')
        const before = await store.byEndpoint(endpoint_hash)
        // The former person's notifications must not reach the next one.
        if (before && before.user_id !== caller.user.id) await store.dropMessages(before.id)
        await store.put({
          id: newId(),
          user_id: caller.user.id,
          session_id: caller.session.jti,
          name,
          endpoint_hash,
          sealed_target: vault.seal(JSON.stringify(target), contexts.target(endpoint_hash)),
          created_at: now,
          seen_at: now,
          last_sent_at: null,
          last_error: null,
        })
        const stored = await store.byEndpoint(endpoint_hash)
        if (!stored) throw new Error('The device was not stored.')
        const others = (await store.ofUser(caller.user.id)).filter(({ id }) => id !== stored.id)
        await store.removeAll(others.slice(mostPushDevices - 1).map(({ id }) => id))
        return stored
      })
      return view(row)
    },

    async remove(caller, id) {
      await own(caller, id)
      await db.atomically((tx) => pushDeviceStore(tx).removeAll([id]))
    },

    async test(caller, id) {
      const device = await own(caller, id)
      await limits.use(rateRules.pushTest, caller.user.id)
      const message = messageOf(testPayload, { ttlSeconds: testSeconds, isUrgent: true })
      const outcome = await delivery.send(device, message)
      if (outcome.kind === 'accepted') return { accepted: true, reason: null }
      return {
        accepted: false,
        reason: outcome.kind === 'gone' ? 'The browser has ended this subscription.' : outcome.reason,
      }
    },

    async itemAdded(tx, itemId) {
      if (await pushDeviceStore(tx).isEmpty()) return
      const now = timestamp(clock.now())
      await pushQueueStore(tx).addItem({ item_id: itemId, due_at: now, created_at: now })
    },

    async sessionsEnded(tx, { user_id, which }) {
      const store = pushDeviceStore(tx)
      if (which === 'all') await store.removeOfUser(user_id)
      else if ('only' in which) await store.removeOfSession(user_id, which.only)
      else await store.removeOfOtherSessions(user_id, which.except)
    },

    loops: [
      { name: 'push.deliver', everySeconds: 15, run: delivery.pass },
      {
        name: 'push.unseen',
        everySeconds: 3600,
        async run(signal) {
          const before = timestamp(secondsLater(clock.now(), -pushDeviceDays * 24 * 3600))
          const ids = await devices.unseenSince(before)
          if (!signal.aborted) await db.atomically((tx) => pushDeviceStore(tx).removeAll(ids))
        },
      },
    ],
    settled: delivery.settled,
    async close() {
      stopListening()
      await delivery.close()
    },
  }
}

function view({ id, name, created_at, seen_at, last_sent_at, last_error }: PushDeviceRow): PushDevice {
  return { id, name, created_at, seen_at, last_sent_at, last_error }
}
