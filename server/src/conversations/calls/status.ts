import type { Vault } from '../../foundation/vault/index.ts'
import { type Clock, secondsLater, timestamp } from '../../kit/clock.ts'
import { Fault } from '../../kit/fault.ts'
import type { Db } from '../../ports/database/port.ts'
import type { CallStatus, Telephony } from '../../ports/telephony/port.ts'
import { accountOf } from './account.ts'
import type { End } from './end.ts'
import type { Outcome } from './rules.ts'
import { type CallRow, callStore } from './store.ts'

export type StatusDeps = {
  db: Db
  clock: Pick<Clock, 'now'>
  vault: Pick<Vault, 'open'>
  telephony: Pick<Telephony, 'isSigned' | 'readStatus'>
  endings: Pick<End, 'end'>
  baseUrl: string
}

/** Between the answer and the sound; the provider opens its stream within a second or two. */
const mediaSeconds = 30
/** Whoever carries a call that is over has this long to tell how it ended and what was said last. */
const lastWordSeconds = 10

/** What the provider tells of a call. Throws `not_found`, `invalid_signature`. */
export function createStatus({ db, clock, vault, telephony, endings, baseUrl }: StatusDeps) {
  const store = callStore(db)
  const later = (seconds: number) => timestamp(secondsLater(clock.now(), seconds))

  return async function told(
    callId: string,
    { body, signature }: { body: Uint8Array; signature: string | undefined },
  ): Promise<void> {
    const call = await store.find(callId)
    if (!call || call.auth_token === null) throw new Fault('not_found', 'There is no such call.')
    const { authToken } = accountOf(vault, { ...call, auth_token: call.auth_token })
    const url = `${baseUrl}/api/public/voip/status/${call.id}`
    if (!telephony.isSigned(authToken, { url, body, signature: signature ?? '' })) {
      throw new Fault('invalid_signature')
    }
    const heard = telephony.readStatus(body)
    if (!heard || (call.provider_call_id ?? heard.providerCallId) !== heard.providerCallId) return
    await follow(call, heard.status)
  }

  async function follow(call: CallRow, status: CallStatus): Promise<void> {
    if (status === 'initiated' || status === 'ringing') return
    if (status === 'answered') {
      await store.answered(call.id, timestamp(clock.now()), later(mediaSeconds))
      return
    }
    await store.over(call.id)
    // Its sound may have come meanwhile: then whoever carries it knows best, for a moment.
    if (await store.renew(call.id, later(lastWordSeconds))) return
    const now = await store.find(call.id)
    if (now) await endings.end(call.id, outcomeOf(status, now))
  }
}

function outcomeOf(
  status: Exclude<CallStatus, 'initiated' | 'ringing' | 'answered'>,
  call: CallRow,
): Outcome {
  switch (status) {
    case 'busy':
      return 'busy'
    case 'no_answer':
    case 'cancelled':
      return 'no_answer'
    case 'failed':
      return 'not_connected'
    case 'completed':
      return call.answered_at === null ? 'no_answer' : 'no_media'
  }
}
