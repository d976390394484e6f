import {
  maxCallContextLength,
  PhoneNumber,
  StartedCall,
  startCall,
} from '@roost/contracts/conversations/calls'
import { z } from 'zod'
import { type Tool, tool } from '../tool.ts'
import { idempotent } from './parameters.ts'
import { selfOf } from './reminders.ts'

export const callTools: Tool[] = [
  tool({
    name: 'call_user',
    description:
      'Call somebody by telephone: your voice speaks with whoever answers, and may ask you meanwhile. You get the receipt at once, and what was said as a run after the call. Only for what cannot wait to be read.',
    audience: 'agent',
    effect: 'write',
    input: {
      to_number: PhoneNumber.describe('In international form, such as +15550123456.'),
      context: z
        .string()
        .max(maxCallContextLength)
        .optional()
        .describe('Why you call and what your voice must know: it knows nothing else.'),
      dedup_label: z
        .string()
        .min(1)
        .max(200)
        .optional()
        .describe('Names the matter: a second call of this label within a day is refused.'),
    },
    output: StartedCall,
    run: (call, body) =>
      call.api.call(startCall, { params: { name: selfOf(call) }, body, headers: idempotent(call) }),
  }),
]
