import { z } from 'zod'
import { Repository } from '../agents/registry.ts'
import { endpoint } from '../kit/endpoint.ts'
import { inQuery } from '../kit/in-query.ts'
import { Timestamp } from '../kit/primitives.ts'
import { Provider, ProviderKeyBody } from './settings.ts'

const tag = 'Settings'
const admin = { who: 'admin' } as const
const configures = (action: string) => ({ type: 'configuration', action }) as const

/** 0 means unlimited; admins have no limit. */
export const AgentQuotas = z.object({ max_agents_creator: z.number().int().min(0).max(1000) })

export const getAgentQuotas = endpoint({
  id: 'getAgentQuotas',
  method: 'GET',
  path: '/api/settings/agent-quotas',
  summary: 'Get the agent limit of creators',
  tag,
  access: admin,
  returns: AgentQuotas,
})

export const putAgentQuotas = endpoint({
  id: 'putAgentQuotas',
  method: 'PUT',
  path: '/api/settings/agent-quotas',
  summary: 'Set the agent limit of creators; 0 means unlimited',
  description: 'Creators above the limit keep their agents and cannot create more.',
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
  summary: 'List the template repositories',
  tag,
  access: admin,
  returns: TemplateRepositories,
})

export const putTemplateRepositories = endpoint({
  id: 'putTemplateRepositories',
  method: 'PUT',
  path: '/api/settings/templates',
  summary: 'Set the template repositories, in display order',
  tag,
  access: admin,
  body: TemplateRepositories,
  returns: TemplateRepositories,
  audit: configures('put_template_repositories'),
})

/** Default: `<base url>/mcp`. */
export const McpUrl = z.object({ url: z.string() })

export const getMcpUrl = endpoint({
  id: 'getMcpUrl',
  method: 'GET',
  path: '/api/settings/mcp-url',
  summary: 'Get the address that snippets for MCP clients show',
  tag,
  access: admin,
  returns: McpUrl,
})

export const putMcpUrl = endpoint({
  id: 'putMcpUrl',
  method: 'PUT',
  path: '/api/settings/mcp-url',
  summary: 'Set the address for MCP clients; an empty value restores the default',
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

/** `held`: a sweep that would delete unusually many rows waits until an admin approves it. */
export const RetentionWindow = z.object({
  key: z.string(),
  /** 0 means forever. */
  days: z.number().int(),
  default: z.number().int(),
  held: z.object({ rows: z.number().int(), share: z.number(), computed_at: Timestamp }).nullable(),
})
export type RetentionWindow = z.output<typeof RetentionWindow>

export const getRetention = endpoint({
  id: 'getRetention',
  method: 'GET',
  path: '/api/settings/retention',
  summary: 'List the retention windows and the held sweeps',
  tag,
  access: admin,
  returns: z.object({ windows: z.array(RetentionWindow) }),
})

const AcknowledgeBody = z.object({ key: z.string(), window_days: z.number().int() })

export const acknowledgeRetention = endpoint({
  id: 'acknowledgeRetention',
  method: 'POST',
  path: '/api/settings/retention/acknowledge',
  summary: 'Approve a held sweep',
  description: '`window_days` is the window that was reviewed; 409 if another one has been stored since.',
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
  summary: 'Test the key of a provider',
  description: 'Tests the key in the body without storing it, or by default the configured key.',
  tag,
  access: { who: 'admin', gate: 'person' },
  params: z.object({ provider: Provider }),
  body: z.object({ api_key: ProviderKeyBody.shape.api_key.nullish() }),
  bodyOptional: true,
  returns: ProviderTest,
  audit: { type: 'credentials', action: 'test_provider_key' },
})
