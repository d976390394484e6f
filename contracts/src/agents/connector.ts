import { z } from 'zod'
import { endpoint } from '../kit/endpoint.ts'
import { AgentParams, Timestamp } from '../kit/primitives.ts'

const tag = 'Agents'
const path = '/api/agents/{name}/connector'

const Playbooks = z.array(z.string().trim().min(1).max(200)).max(500)

/** While it is off, keys of scope `connector` do not find the agent. */
export const Connector = z.object({
  agent_name: z.string(),
  enabled: z.boolean(),
  /** Counts while `expose_all_playbooks` is off. */
  exposed_playbooks: z.array(z.string()),
  expose_all_playbooks: z.boolean(),
  keys: z.array(
    z.object({
      key_id: z.string(),
      key_prefix: z.string(),
      created_at: Timestamp,
      last_used_at: Timestamp.nullable(),
    }),
  ),
})
export type Connector = z.output<typeof Connector>

export const getConnector = endpoint({
  id: 'getConnector',
  method: 'GET',
  path,
  summary: 'Whether and what the agent offers to connectors',
  tag,
  access: { who: 'owner' },
  params: AgentParams,
  returns: Connector,
  fails: ['agent_not_found'],
})

export const putConnector = endpoint({
  id: 'putConnector',
  method: 'PUT',
  path,
  summary: 'Change it; what is left out stays',
  tag,
  access: { who: 'owner', gate: 'person' },
  params: AgentParams,
  body: z
    .object({
      enabled: z.boolean().optional(),
      exposed_playbooks: Playbooks.optional(),
      expose_all_playbooks: z.boolean().optional(),
    })
    .refine((body) => Object.values(body).some((value) => value !== undefined), 'changes nothing'),
  returns: Connector,
  fails: ['agent_not_found', 'system_agent_protected'],
  audit: { type: 'configuration', action: 'set_connector' },
})

export const ConnectorSnippet = z.object({
  client: z.string(),
  label: z.string(),
  format: z.enum(['shell', 'json']),
  content: z.string(),
})
export type ConnectorSnippet = z.output<typeof ConnectorSnippet>

/** `api_key` repeats `key`; neither is ever shown again, nor are the snippets that hold it. */
export const NewConnectorKey = z.object({
  agent_name: z.string(),
  key: z.string(),
  api_key: z.string(),
  key_id: z.string(),
  key_prefix: z.string(),
  mcp_url: z.string(),
  snippets: z.array(ConnectorSnippet),
})

export const createConnectorKey = endpoint({
  id: 'createConnectorKey',
  method: 'POST',
  path: `${path}/key`,
  summary: 'Mint a key for using this agent and nothing else; switches the connector on',
  tag,
  access: { who: 'owner', gate: 'person' },
  params: AgentParams,
  returns: NewConnectorKey,
  fails: ['agent_not_found', 'system_agent_protected', 'rate_limited'],
  audit: { type: 'credentials', action: 'create_connector_key' },
})
