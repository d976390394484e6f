import { z } from 'zod'
import { Repository } from '../agents/registry.ts'
import { endpoint } from '../kit/endpoint.ts'
import { inQuery } from '../kit/in-query.ts'
import { Timestamp } from '../kit/primitives.ts'
import { Provider, ProviderKeyBody } from './settings.ts'

const tag = 'Settings'
const admin = { who: 'admin' } as const
const configures = (action: string) => ({ type: 'configuration', action }) as const

/** 0 is without a bound; admins have none. */
export const AgentQuotas = z.object({ max_agents_creator: z.number().int().min(0).max(1000) })

export const getAgentQuotas = endpoint({
  id: 'getAgentQuotas',
  method: 'GET',
  path: '/api/settings/agent-quotas',
  summary: 'How many agents a creator may own',
  tag,
  access: admin,
  returns: AgentQuotas,
})

export const putAgentQuotas = endpoint({
  id: 'putAgentQuotas',
  method: 'PUT',
  path: '/api/settings/agent-quotas',
  summary: 'Set it; 0 is without a bound',
  description: 'Whoever owns more keeps them and makes no further ones.',
  tag,
  access: admin,
  body: AgentQuotas,
  returns: AgentQuotas,
  audit: configures('put_agent_quotas'),
})

export const TemplateRepositories = z.object({ repositories: z.array(Repository).max(100) })

export const getTemplateRepositories = endpoint({
  id: 'getTemplateRepositories',
  method: 'GET',
  path: '/api/settings/templates',
  summary: 'Repositories that the list of templates shows',
  tag,
  access: admin,
  returns: TemplateRepositories,
})

export const putTemplateRepositories = endpoint({
  id: 'putTemplateRepositories',
  method: 'PUT',
  path: '/api/settings/templates',
  summary: 'Set them, in the order in which they are shown',
  tag,
  access: admin,
  body: TemplateRepositories,
  returns: TemplateRepositories,
  audit: configures('put_template_repositories'),
})

/** Without a stored one `<base url>/mcp`. */
export const McpUrl = z.object({ url: z.string() })

export const getMcpUrl = endpoint({
  id: 'getMcpUrl',
  method: 'GET',
  path: '/api/settings/mcp-url',
  summary: 'The address that snippets for MCP clients show',
  tag,
  access: admin,
  returns: McpUrl,
})

export const putMcpUrl = endpoint({
  id: 'putMcpUrl',
  method: 'PUT',
  path: '/api/settings/mcp-url',
  summary: 'Set it; empty goes back to the default',
  tag,
  access: admin,
  body: z.object({
    url: z
      .string()
      .trim()
      .max(2048)
      .refine(
        (text) => text === '' || (/^https?:\/\//.test(text) && URL.canParse(text)),
        'must be an address that starts with http:// or https://',
      ),
  }),
  returns: McpUrl,
  audit: configures('put_mcp_url'),
})

/** `held`: a sweep that would delete unusually much waits for an admin to say that it may. */
export const RetentionWindow = z.object({
  key: z.string(),
  /** 0 keeps for ever. */
  days: z.number().int(),
  default: z.number().int(),
  held: z.object({ rows: z.number().int(), share: z.number(), computed_at: Timestamp }).nullable(),
})
export type RetentionWindow = z.output<typeof RetentionWindow>

export const getRetention = endpoint({
  id: 'getRetention',
  method: 'GET',
  path: '/api/settings/retention',
  summary: 'How long what is kept, and which sweeps are held',
  tag,
  access: admin,
  returns: z.object({ windows: z.array(RetentionWindow) }),
})

const AcknowledgeBody = z.object({ key: z.string(), window_days: z.number().int() })

export const acknowledgeRetention = endpoint({
  id: 'acknowledgeRetention',
  method: 'POST',
  path: '/api/settings/retention/acknowledge',
  summary: 'Let a held sweep delete what it found',
  description: '`window_days` is the window that was looked at; another one stored meanwhile is 409.',
  tag,
  access: { who: 'admin', gate: 'human' },
  strict: true,
  query: inQuery(AcknowledgeBody),
  body: AcknowledgeBody,
  bodyOptional: true,
  returns: z.object({ success: z.literal(true), key: z.string(), released_rows: z.number().int() }),
  fails: ['setting_not_found', 'window_changed'],
  audit: configures('acknowledge_retention'),
})

export const providerTestStatuses = ['valid', 'invalid', 'rate_limited', 'unreachable'] as const
export const ProviderTest = z.object({
  ok: z.boolean(),
  status: z.enum(providerTestStatuses),
  message: z.string(),
})
export type ProviderTest = z.output<typeof ProviderTest>

export const testProviderKey = endpoint({
  id: 'testProviderKey',
  method: 'POST',
  path: '/api/settings/api-keys/{provider}/test',
  summary: 'Ask the provider whether a key works',
  description: 'The key of the body, which is not stored; without one the key that is configured.',
  tag,
  access: { who: 'admin', gate: 'person' },
  params: z.object({ provider: Provider }),
  body: z.object({ api_key: ProviderKeyBody.shape.api_key.nullish() }),
  bodyOptional: true,
  returns: ProviderTest,
  audit: { type: 'credentials', action: 'test_provider_key' },
})
