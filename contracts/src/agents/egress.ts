import { z } from 'zod'
import { endpoint } from '../kit/endpoint.ts'
import { AgentParams, queryInteger, Timestamp } from '../kit/primitives.ts'
import { placeholderPrefix } from '../link/egress.ts'

const tag = 'Egress'
const owned = { tag, access: { who: 'owner', gate: 'person' }, params: AgentParams } as const

/**
 * - `off`: outbound traffic is direct. Only traffic for bound credentials goes through the platform.
 * - `learn`: all traffic goes through the platform, which records each destination.
 * - `enforce`: only allowed destinations; the container has no other outbound network.
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
/** With the prefix `*.`: all subdomains, but not the domain itself. */
const HostPattern = z
  .string()
  .trim()
  .max(255)
  .transform((text) => text.toLowerCase().replace(/\.$/, ''))
  .refine(
    (text) => hostName.test(text.replace(/^\*\./, '')) && (!text.startsWith('*.') || text.includes('.', 2)),
    'must be a host name, such as api.example.com or *.example.com',
  )
/** A host that receives a credential: `api.example.com`, optionally with a port. */
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
  /** Null: the account was deleted. */
  created_by: z.string().nullable(),
})
export type EgressRule = z.output<typeof EgressRule>

/** A variable whose value stays in the platform, which inserts it in requests to these hosts only. */
export const EgressCredential = z.object({
  name: z.string(),
  /** Each is `host` (port 443) or `host:port`. */
  hosts: z.array(z.string()),
  /** Parts of a request in which the placeholder is replaced; always includes headers. */
  places: z.array(z.enum(['header', 'query'])),
  /** The agent has this text instead; it is worthless elsewhere. */
  placeholder: z.string(),
  /** False: declared, but no value is stored yet. */
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
  /** The current container is not in the network that the mode requires. */
  restart_needed: z.boolean(),
  network: z.object({
    /** Whether this engine can block all other outbound traffic. */
    can_close: z.boolean(),
    /** True if the current container has no other outbound network; null without a container. */
    is_closed: z.boolean().nullable(),
    /** What remains open, in sentences. */
    notes: z.array(z.string()),
  }),
  allowed: z.array(EgressRule),
  credentials: z.array(EgressCredential),
  /** Denied attempts in the last 24 hours. */
  denied_last_day: z.number().int(),
})
export type AgentEgress = z.output<typeof AgentEgress>

export const getAgentEgress = endpoint({
  ...owned,
  id: 'getAgentEgress',
  method: 'GET',
  path: '/api/agents/{name}/egress',
  summary: 'Outbound network of an agent: mode, allowed hosts, bound credentials',
  returns: AgentEgress,
  fails: ['agent_not_found'],
})

export const putAgentEgress = endpoint({
  ...owned,
  id: 'putAgentEgress',
  method: 'PUT',
  path: '/api/agents/{name}/egress',
  summary: 'Set the outbound mode of an agent',
  description:
    'The new mode applies immediately to traffic through the platform. The container changes its network at ' +
    'the next start: `restart_needed`. `enforce` is refused (`option_not_offered`) if the container engine cannot ' +
    'block other outbound traffic.',
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
  summary: 'Allow a host; returns the existing rule if there is one',
  description:
    'At most 500 rules. Default ports: 80 and 443. Private addresses stay blocked regardless of the rules.',
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
  summary: 'Remove a rule; open connections stay open',
  params: AgentParams.extend({ rule_id: z.string() }),
  returns: z.object({ success: z.literal(true) }),
  fails: ['agent_not_found', 'not_found'],
  audit: { type: 'configuration', action: 'disallow_egress' },
})

export const egressDecisions = ['allowed', 'denied'] as const
/**
 * - `learnt`: the mode was not `enforce`. `listed`: a rule allows it. `credential`: a credential is bound to it.
 * - `not_listed`: no rule allows it. `inner_address`: a loopback or private address. `not_found`: the host does not
 *   exist. `malformed`: not a host and port. `other_host`: the inner request names another host than the connection.
 *   `unreachable`: the host does not respond, or its certificate is invalid.
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

/** One destination with one outcome; repeated attempts increase `count`. */
export const EgressEntry = z.object({
  id: z.string(),
  /** As requested by the agent, at most 253 characters. */
  host: z.string(),
  port: z.number().int(),
  decision: z.enum(egressDecisions),
  reason: z.enum(egressReasons),
  count: z.number().int(),
  first_at: Timestamp,
  last_at: Timestamp,
  /** Whether a rule or a credential allows it now. */
  is_listed: z.boolean(),
})
export type EgressEntry = z.output<typeof EgressEntry>

export const listEgressLog = endpoint({
  ...owned,
  id: 'listEgressLog',
  method: 'GET',
  path: '/api/agents/{name}/egress/log',
  summary: 'Allowed and denied destinations of an agent, latest first',
  description:
    'One entry for each destination and outcome, with a count. Kept for 30 days, at most 1,000 per agent. In mode ' +
    '`off` only denials are recorded. Paged; `X-Total-Count` has the total.',
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
  /** Omitted: the stored value stays. Printable ASCII, because it becomes part of a header. */
  value: z
    .string()
    .min(8, 'must have at least 8 characters: a shorter value cannot be masked reliably')
    .max(8192)
    .regex(/^[\x20-\x7e]*$/, 'must be one line of printable ASCII')
    .refine((text) => text === text.trim(), 'must not start or end with a space')
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
  summary: 'Store a credential in the platform, which inserts it for its hosts only',
  description:
    "The agent's `.env` gets a placeholder. In requests to these hosts it is replaced in headers, including Basic " +
    'authentication, and with `places: ["header","query"]` also in the query. Elsewhere it stays a placeholder. At ' +
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
  summary: 'Delete a stored credential; its placeholder becomes worthless',
  params: CredentialParams,
  returns: z.object({ success: z.literal(true) }),
  fails: ['agent_not_found', 'not_found'],
  audit: { type: 'credentials', action: 'unbind_credential' },
})

/** The certificate authority that agents with bound credentials trust in addition to the public ones. */
export const EgressAuthority = z.object({
  /** Null: not needed yet, or expired; the next agent that needs one causes a new one. */
  signs_until: Timestamp.nullable().describe('When the signing authority expires.'),
  renews_at: Timestamp.nullable().describe('When the platform creates the next one.'),
  trusted: z.number().int().min(0).describe('Number of trusted authorities: two during a renewal.'),
})
export type EgressAuthority = z.output<typeof EgressAuthority>

export const getInternalEgressAuthority = endpoint({
  id: 'getInternalEgressAuthority',
  method: 'GET',
  path: '/api/internal/egress-authority',
  summary: 'Validity of the certificate authority for outbound traffic',
  tag: 'Internal',
  access: { who: 'internal' },
  returns: EgressAuthority,
})
