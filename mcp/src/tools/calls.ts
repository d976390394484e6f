import { StartedCall, startCall } from '@roost/contracts/conversations/calls'
import { bodyOf, described, request } from '../requests.ts'
import { type Tool, tool } from '../tool.ts'
import { idempotent, reasons } from './parameters.ts'
import { selfOf } from './reminders.ts'

export const callTools: Tool[] = [
  tool({
    name: 'call_user',
    description:
      'Call a person by telephone: your voice talks to whoever answers and may ask you questions during the call. Returns immediately; the transcript arrives as a run after the call. Only for what cannot wait to be read.',
    audience: 'agent',
    effect: 'write',
    requests: [request(startCall, { leftOut: { '{name}': reasons.self } })],
    input: described(bodyOf(startCall), {
      to_number: 'In international format, such as +15550123456.',
      context: 'The reason for the call and all that your voice must know: it knows nothing else.',
      process_transcript: 'false: no run with the transcript after the call.',
      dedup_label: 'Names the matter: a second call with this label within a day is refused.',
    }),
    output: StartedCall,
    run: (call, body) =>
      call.api.call(startCall, { params: { name: selfOf(call) }, body, headers: idempotent(call) }),
  }),
]
