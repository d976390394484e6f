import type { Client } from '@roost/contracts/client'
import { z } from 'zod'
import type { ValidKey } from './keys.ts'
import type { RequestForm } from './requests.ts'

/**
 * Which keys see a tool. `everyone`: `user`, `system` and `agent` keys. `person`: not agents. `agent`: shown to
 * all three, answered to agents alone, because the acting agent is taken from the key. `connector`: connector
 * keys, and the others with the agent named.
 */
export const audiences = ['everyone', 'person', 'agent', 'connector'] as const
export type Audience = (typeof audiences)[number]

/** What a call does to the platform, for clients that ask their person first. */
export type Effect = 'read' | 'write' | 'destroy'

/** One call of a tool: who makes it, and the API as that caller. */
export type Call = {
  key: ValidKey
  /** Carries the caller's key, and nothing that the caller has not. */
  api: Client
  /** Ends when the caller goes away or cancels. */
  signal: AbortSignal
  /** Seconds that a tool may keep its caller waiting before it answers with a receipt. */
  waitSeconds: number
  /** The header `Idempotency-Key` of the HTTP request that carries the call; null without one. */
  headerKey: string | null
  /** Equal for a retry of this call within its session, as after a lost connection; null without a session. */
  retryKey: string | null
  /** Does something slow and tells the caller every few seconds that it goes on. */
  waiting<T>(what: string, work: Promise<T>): Promise<T>
}

export type Tool = {
  name: string
  title: string
  /** For a model that has never seen the platform: what it does, when to use it, what comes back. */
  description: string
  audience: Audience
  effect: Effect
  input: z.ZodObject
  /** The API requests that it makes. */
  requests: readonly RequestForm[]
  /** Parameters that are no field of an endpoint, with what they do instead. */
  own: Readonly<Record<string, string>>
  /** What it answers when nothing is refused; objects only. */
  output: z.ZodType | null
  /** Part of every agent's daily work: clients that load tools on demand have it at hand from the start. */
  isCore: boolean
  /** Refusals do not tell whether there is such a thing. */
  hides: boolean
  /** The agent that a call is about, for refusals and the audit log; what is no text is none. */
  target(given: Record<string, unknown>, key: ValidKey): unknown
  // The schema has checked the input; its type is known where the tool is made.
  run(call: Call, input: never): Promise<object>
}

type Described<I extends z.ZodRawShape> = Omit<
  Tool,
  'input' | 'own' | 'output' | 'hides' | 'isCore' | 'run' | 'title' | 'target'
> & {
  input: I
  own?: Tool['own']
  title?: string
  output?: z.ZodType
  hides?: boolean
  isCore?: boolean
  target?: Tool['target']
  run(call: Call, input: z.output<z.ZodObject<I>>): Promise<object>
}

/** Keys that `input` does not name are refused by name, at any depth. */
export function tool<const I extends z.ZodRawShape>(described: Described<I>): Tool {
  const { input, own, title, output, hides, isCore, target, run, ...rest } = described
  return {
    ...rest,
    title: title ?? titleOf(described.name),
    input: z.object(input),
    own: own ?? {},
    output: output ?? null,
    hides: hides ?? false,
    isCore: isCore ?? described.audience === 'agent',
    target: target ?? ((given) => given.agent_name ?? given.name),
    run,
  }
}

function titleOf(name: string): string {
  const words = name.replaceAll('_', ' ')
  return words.charAt(0).toUpperCase() + words.slice(1)
}
