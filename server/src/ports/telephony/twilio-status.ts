import type { CallStatus } from './port.ts'

const statuses = new Map<string, CallStatus>([
  ['queued', 'initiated'],
  ['initiated', 'initiated'],
  ['ringing', 'ringing'],
  ['in-progress', 'answered'],
  ['answered', 'answered'],
  ['completed', 'completed'],
  ['busy', 'busy'],
  ['no-answer', 'no_answer'],
  ['failed', 'failed'],
  ['canceled', 'cancelled'],
])

/** Parses a status callback; null for unknown states. */
export function readStatus(body: Uint8Array): { providerCallId: string; status: CallStatus } | null {
  const form = new URLSearchParams(Buffer.from(body).toString('utf8'))
  const providerCallId = form.get('CallSid')
  const status = statuses.get(form.get('CallStatus') ?? '')
  return providerCallId && status ? { providerCallId, status } : null
}
