import type { Client } from '@roost/contracts/client'
import { z } from 'zod'
import type { ValidKey } from './keys.ts'
import type { RequestForm } from './requests.ts'

/**
 * The keys that see a tool. `everyone`: `user`, `system` and `agent` keys. `person`: not agents. `agent`: visible
 * to all three but usable by agents only, because the key determines the acting agent. `connector`: also connector
 * keys; other keys name the agent.
 */
export const audiences = ['everyone', 'person', 'agent', 'connector'] as const
export type Audience = (typeof audiences)[number]

/** The effect of a call, for clients that ask for confirmation. */
export type Effect = 'read' | 'write' | 'destroy'

/** One call of a tool, with the caller's key and the API as that caller. */
export type Call = {
  key: ValidKey
  /** Uses the caller's key, so it has the caller's rights only. */
  api: Client
  /** Aborts when the caller disconnects or cancels. */
  signal: AbortSignal
  /** Seconds that a tool may wait before it returns a receipt. */
  waitSeconds: number
  /** The header `Idempotency-Key` of the HTTP request that carries the call; null without one. */
  headerKey: string | null
  /** Equal for a retry of this call within its session, as after a lost connection; null without a session. */
  retryKey: string | null
  /** Waits for slow work and sends progress notifications every few seconds. */
  waiting<T>(what: string, work: Promise<T>): Promise<T>
}

export type Tool = {
  name: string
  title: string
  /** For a model that does not know the platform: what the tool does, when to use it, what it returns. */
  description: string
  audience: Audience
  effect: Effect
  input: z.ZodObject
  /** The API requests of the tool. */
  requests: readonly RequestForm[]
  /** Parameters that do not map to a field of an endpoint, with their purpose. */
  own: Readonly<Record<string, string>>
  /** The schema of a successful result; objects only. */
  output: z.ZodType | null
  /** Frequently used: clients that load tools on demand load it at the start. */
  isCore: boolean
  /** Refusals do not reveal whether the requested item exists. */
  hides: boolean
  /** Returns the agent of a call, for refusals and the audit log. A value other than text is ignored. */
  target(given: Record<string, unknown>, key: ValidKey): unknown
  // Validated by the schema; the input type is known where the tool is defined.
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

/** Creates a tool. Keys missing in `input` are refused by name, at any depth. */
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
