import { z } from 'zod'
import { endpoint } from '../kit/endpoint.ts'
import { AgentParams, queryInteger, Timestamp } from '../kit/primitives.ts'
import { placeholderPrefix } from '../link/egress.ts'

const tag = 'Egress'
const owned = { tag, access: { who: 'owner', gate: 'person' }, params: AgentParams } as const

/**
 * - `off`: the agent's way out is as it is without this feature. Only what a bound credential needs goes over
 *   the platform.
 * - `learn`: everything goes over the platform, and where it leads is written down.
 * - `enforce`: only what is allowed; the container has no other way out.
 */
export const egressModes = ['off', 'learn', 'enforce'] as const
export const EgressMode = z.enum(egressModes)
export type EgressMode = z.output<typeof EgressMode>

export const mostEgressRules = 500
export const mostEgressCredentials = 50
export const mostCredentialHosts = 20

const label = '[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?'
const hostName = new RegExp(`^(${label}\\.)*${label}$`)
const Port = z.number().int().min(1).max(65_535)
/** With `*.` before it, all names below; the name itself is another rule. */
const HostPattern = z
  .string()
  .trim()
  .max(255)
  .transform((text) => text.toLowerCase().replace(/\.$/, ''))
  .refine(
    (text) => hostName.test(text.replace(/^\*\./, '')) && (!text.startsWith('*.') || text.includes('.', 2)),
    'must be the name of a host, such as api.example.com or *.example.com',
  )
/** Where a credential is used: `api.example.com`, or with a port of its own. */
export const CredentialHost = z
  .string()
  .trim()
  .max(260)
  .transform((text) => text.toLowerCase())
  .refine((text) => {
    const [, host = '', port] = /^(.*?)(?::(\d{1,5}))?$/.exec(text) ?? []
    return hostName.test(host) && (port === undefined || (Number(port) >= 1 && Number(port) <= 65_535))
  }, 'must be a host, such as api.example.com, or a host with a port')
export const CredentialHosts = z.array(CredentialHost).min(1).max(mostCredentialHosts)

export const EgressRule = z.object({
  id: z.string(),
  host: z.string(),
  /** Null: 80 and 443. */
  port: z.number().int().nullable(),
  created_at: Timestamp,
  /** Null: the account is gone. */
  created_by: z.string().nullable(),
})
export type EgressRule = z.output<typeof EgressRule>

/** A variable whose value stays in the platform, which puts it on the wire for these hosts alone. */
export const EgressCredential = z.object({
  name: z.string(),
  /** Each `host` (port 443) or `host:port`. */
  hosts: z.array(z.string()),
  /** Parts of a request in which the placeholder is replaced. Headers always. */
  places: z.array(z.enum(['header', 'query'])),
  /** What the agent holds instead; worth nothing anywhere else. */
  placeholder: z.string(),
  /** False: declared, and no value is stored yet. */
  has_value: z.boolean(),
  source: z.enum(['owner', 'template']),
  /** When the value was last changed. */
  updated_at: Timestamp,
  last_used_at: Timestamp.nullable(),
})
export type EgressCredential = z.output<typeof EgressCredential>

export const AgentEgress = z.object({
  agent_name: z.string(),
  mode: EgressMode,
  /** The container that there is now does not stand in the network that the mode asks for. */
  restart_needed: z.boolean(),
  network: z.object({
    /** Whether this engine can take away every other way out. */
    can_close: z.boolean(),
    /** Whether it did, for the container that there is now; null without one. */
    is_closed: z.boolean().nullable(),
    /** What stays open all the same, in sentences. */
    notes: z.array(z.string()),
  }),
  allowed: z.array(EgressRule),
  credentials: z.array(EgressCredential),
  /** Attempts that were refused in the last 24 hours. */
  denied_last_day: z.number().int(),
})
export type AgentEgress = z.output<typeof AgentEgress>

export const getAgentEgress = endpoint({
  ...owned,
  id: 'getAgentEgress',
  method: 'GET',
  path: '/api/agents/{name}/egress',
  summary: "An agent's way out: mode, allowed hosts, credentials that stay in the platform",
  returns: AgentEgress,
  fails: ['agent_not_found'],
})

export const putAgentEgress = endpoint({
  ...owned,
  id: 'putAgentEgress',
  method: 'PUT',
  path: '/api/agents/{name}/egress',
  summary: "Set the mode of an agent's way out",
  description:
    'What goes over the platform is judged by the new mode at once. The container itself changes its network at ' +
    'the next start: `restart_needed`. `enforce` is refused (`option_not_offered`) where the container engine cannot ' +
    'take other ways out away.',
  body: z.object({ mode: EgressMode }),
  returns: AgentEgress,
  fails: ['agent_not_found', 'system_agent_protected', 'option_not_offered'],
  audit: { type: 'configuration', action: 'set_egress_mode' },
})

export const AllowEgress = z.object({ host: HostPattern, port: Port.nullish() })

export const allowEgress = endpoint({
  ...owned,
  id: 'allowEgress',
  method: 'POST',
  path: '/api/agents/{name}/egress/allow',
  summary: 'Allow a host; one that is allowed already is answered as it is',
  description:
    'At most 500 rules. Without a port: 80 and 443. Inner addresses stay closed whatever is allowed.',
  body: AllowEgress,
  returns: EgressRule,
  fails: ['agent_not_found', 'conflict'],
  audit: { type: 'configuration', action: 'allow_egress' },
})

export const disallowEgress = endpoint({
  ...owned,
  id: 'disallowEgress',
  method: 'DELETE',
  path: '/api/agents/{name}/egress/allow/{rule_id}',
  summary: 'Remove a rule; connections that are open stay open',
  params: AgentParams.extend({ rule_id: z.string() }),
  returns: z.object({ success: z.literal(true) }),
  fails: ['agent_not_found', 'not_found'],
  audit: { type: 'configuration', action: 'disallow_egress' },
})

export const egressDecisions = ['allowed', 'denied'] as const
/**
 * - `learnt`: the mode was not `enforce`. `listed`: a rule allows it. `credential`: a credential is bound to it.
 * - `not_listed`: no rule allows it. `inner_address`: it leads to this machine or a network around it.
 *   `not_found`: there is no such host. `malformed`: no host and port. `other_host`: the request inside was for another
 *   host than the connection. `unreachable`: it does not answer, or its certificate is not good.
 */
export const egressReasons = [
  'learnt',
  'listed',
  'credential',
  'not_listed',
  'inner_address',
  'not_found',
  'malformed',
  'other_host',
  'unreachable',
] as const

/** One destination with one outcome; further attempts are counted. */
export const EgressEntry = z.object({
  id: z.string(),
  /** As the agent named it, at most 253 characters. */
  host: z.string(),
  port: z.number().int(),
  decision: z.enum(egressDecisions),
  reason: z.enum(egressReasons),
  count: z.number().int(),
  first_at: Timestamp,
  last_at: Timestamp,
  /** Whether a rule or a credential allows it by now. */
  is_listed: z.boolean(),
})
export type EgressEntry = z.output<typeof EgressEntry>

export const listEgressLog = endpoint({
  ...owned,
  id: 'listEgressLog',
  method: 'GET',
  path: '/api/agents/{name}/egress/log',
  summary: 'Where an agent went and where it was not let, the latest first',
  description:
    'One entry for each destination and outcome, with how often. Kept for 30 days, at most 1,000 per agent. In mode ' +
    '`off` only refusals are written down. Paged; `X-Total-Count` says how many there are.',
  query: z.object({
    limit: queryInteger(1, 500, 50),
    offset: queryInteger(0, 1_000_000, 0),
    decision: z.enum(egressDecisions).optional(),
  }),
  returns: z.array(EgressEntry),
  replyHeaders: ['X-Total-Count'],
  fails: ['agent_not_found'],
})

export const PutEgressCredential = z.object({
  hosts: CredentialHosts,
  /** Left out: the value that is stored stays. Printable ASCII: it becomes part of a header. */
  value: z
    .string()
    .min(8, 'must have at least 8 characters: a shorter one could not be kept out of what the agent sees')
    .max(8192)
    .regex(/^[\x20-\x7e]*$/, 'must be one line of printable ASCII')
    .refine((text) => text === text.trim(), 'must not begin or end with a blank')
    .refine((text) => !text.includes(placeholderPrefix), 'must not be a placeholder')
    .optional(),
  places: z.array(z.enum(['header', 'query'])).optional(),
})
export type PutEgressCredential = z.output<typeof PutEgressCredential>

const CredentialParams = AgentParams.extend({ variable: z.string() })

export const putEgressCredential = endpoint({
  ...owned,
  id: 'putEgressCredential',
  method: 'PUT',
  path: '/api/agents/{name}/egress/credentials/{variable}',
  summary: 'Keep a credential in the platform, and put it on the wire for its hosts alone',
  description:
    "The agent's `.env` gets a placeholder. In requests to these hosts it is replaced in headers, Basic sign-in " +
    'included, and with `places: ["header","query"]` in the query as well; anywhere else it stays a placeholder. At ' +
    'most 50 credentials.',
  params: CredentialParams,
  body: PutEgressCredential,
  returns: EgressCredential,
  fails: ['agent_not_found', 'conflict', 'rate_limited'],
  audit: { type: 'credentials', action: 'bind_credential' },
})

export const deleteEgressCredential = endpoint({
  ...owned,
  id: 'deleteEgressCredential',
  method: 'DELETE',
  path: '/api/agents/{name}/egress/credentials/{variable}',
  summary: 'Forget a credential of the platform; its placeholder is worth nothing then',
  params: CredentialParams,
  returns: z.object({ success: z.literal(true) }),
  fails: ['agent_not_found', 'not_found'],
  audit: { type: 'credentials', action: 'unbind_credential' },
})

/** The authority that agents with bound credentials trust beside the world's own. */
export const EgressAuthority = z.object({
  /** Null: none was needed yet, or it has ended; the next agent that needs one gets a new one. */
  signs_until: Timestamp.nullable().describe('When the one that signs now ends.'),
  renews_at: Timestamp.nullable().describe('From when on the platform makes the next one by itself.'),
  trusted: z.number().int().min(0).describe('How many agents trust: two while one follows the other.'),
})
export type EgressAuthority = z.output<typeof EgressAuthority>

export const getInternalEgressAuthority = endpoint({
  id: 'getInternalEgressAuthority',
  method: 'GET',
  path: '/api/internal/egress-authority',
  summary: 'How long the authority of the agents’ way out still holds',
  tag: 'Internal',
  access: { who: 'internal' },
  returns: EgressAuthority,
})
