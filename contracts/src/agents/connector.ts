import { z } from 'zod'
import { endpoint } from '../kit/endpoint.ts'
import { AgentParams, Timestamp } from '../kit/primitives.ts'

const tag = 'Agents'
const path = '/api/agents/{name}/connector'

const Playbooks = z.array(z.string().trim().min(1).max(200)).max(500)

/** While disabled, keys of scope `connector` get 404 for the agent. */
export const Connector = z.object({
  agent_name: z.string(),
  enabled: z.boolean(),
  /** Applies while `expose_all_playbooks` is false. */
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
  summary: 'The connector settings of an agent',
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
  summary: 'Change the connector settings; omitted fields stay unchanged',
  description: 'Switching the connector off ends the runs that its keys have started.',
  tag,
  access: { who: 'owner', gate: 'person' },
  params: AgentParams,
  body: z
    .object({
      enabled: z.boolean().optional(),
      exposed_playbooks: Playbooks.optional(),
      expose_all_playbooks: z.boolean().optional(),
    })
    .refine(
      (body) => Object.values(body).some((value) => value !== undefined),
      'must have at least one field',
    ),
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

/** `api_key` repeats `key`. Only this reply contains the key and the snippets with it. */
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
  summary: 'Create a key for this agent only; enables the connector',
  tag,
  access: { who: 'owner', gate: 'person' },
  params: AgentParams,
  returns: NewConnectorKey,
  fails: ['agent_not_found', 'system_agent_protected', 'rate_limited'],
  audit: { type: 'credentials', action: 'create_connector_key' },
})
