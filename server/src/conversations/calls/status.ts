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

/** Maximum time between answer and media stream; the provider needs one or two seconds. */
const mediaSeconds = 30
/** Time for the process that carries an ended call to store its last lines and outcome. */
const lastWordSeconds = 10

/** Handles the provider's status updates. Throws `not_found`, `invalid_signature`. */
export function createStatus({ db, clock, vault, telephony, endings, baseUrl }: StatusDeps) {
  const store = callStore(db)
  const deadlineIn = (seconds: number) => timestamp(secondsLater(clock.now(), seconds))

  return async function receiveStatus(
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
    const update = telephony.readStatus(body)
    if (!update || (call.provider_call_id ?? update.providerCallId) !== update.providerCallId) return
    await applyStatus(call, update.status)
  }

  async function applyStatus(call: CallRow, status: CallStatus): Promise<void> {
    if (status === 'initiated' || status === 'ringing') return
    if (status === 'answered') {
      await store.markAnswered(call.id, timestamp(clock.now()), deadlineIn(mediaSeconds))
      return
    }
    await store.markOver(call.id)
    // If the call is connected, its process gets a moment to end it, because it knows the outcome best.
    if (await store.renew(call.id, deadlineIn(lastWordSeconds))) return
    const current = await store.find(call.id)
    if (current) await endings.end(call.id, outcomeOf(status, current))
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
