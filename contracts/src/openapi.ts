import { z } from 'zod'
import type { Endpoint } from './kit/endpoint.ts'
import { type ErrorCode, errorCatalogue } from './kit/errors.ts'

export type OpenApiDocument = { openapi: '3.1.0'; info: Record<string, unknown>; [key: string]: unknown }

/** The document behind `/docs`, made from the same values that serve the calls. */
export function openApiDocument(endpoints: readonly Endpoint[], version: string): OpenApiDocument {
  const paths: Record<string, Record<string, unknown>> = {}
  for (const endpoint of endpoints) {
    paths[endpoint.path] = { ...paths[endpoint.path], [endpoint.method.toLowerCase()]: operation(endpoint) }
  }
  return {
    openapi: '3.1.0',
    info: {
      title: 'Roost',
      version,
      description:
        'Hosts AI agents: isolated containers with their own workspace, each running a real coding CLI.',
      license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
    },
    servers: [{ url: '/' }],
    tags: [...new Set(endpoints.map((endpoint) => endpoint.tag))].map((name) => ({ name })),
    paths,
    components: {
      securitySchemes: {
        bearer: {
          type: 'http',
          scheme: 'bearer',
          description: 'A session token of POST /api/token, or an MCP key (svc_mcp_…).',
        },
      },
      schemas: { Error: errorSchema },
    },
  }
}

const errorSchema = {
  type: 'object',
  required: ['detail', 'error'],
  properties: {
    detail: {
      description: 'One sentence; for validation_error the list of what is wrong.',
      oneOf: [
        { type: 'string' },
        {
          type: 'array',
          items: {
            type: 'object',
            properties: {
              loc: { type: 'array', items: {} },
              msg: { type: 'string' },
              type: { type: 'string' },
            },
          },
        },
      ],
    },
    error: { type: 'string', enum: Object.keys(errorCatalogue) },
  },
  additionalProperties: true,
}

function operation(endpoint: Endpoint): Record<string, unknown> {
  return {
    operationId: endpoint.id,
    summary: endpoint.summary,
    description: [endpoint.description, accessWords(endpoint)].filter(Boolean).join('\n\n'),
    tags: [endpoint.tag],
    security: endpoint.access.who === 'none' || endpoint.access.who === 'internal' ? [] : [{ bearer: [] }],
    parameters: [...parameters(endpoint.params, 'path'), ...parameters(endpoint.query, 'query')],
    ...(endpoint.body || endpoint.bodyKind === 'raw' ? { requestBody: requestBody(endpoint) } : {}),
    responses: responses(endpoint),
  }
}

function accessWords({ access }: Endpoint): string {
  const who: Record<typeof access.who, string> = {
    none: 'No credential.',
    any: 'Any valid session or key whose scope reaches it.',
    access: 'Whoever can reach the agent.',
    owner: "The agent's owner or an admin.",
    admin: 'Admins.',
    agent: "The agent's own key.",
    workspace: 'Somebody with a Workspace session or a session of their own.',
    internal: 'The internal listener only.',
  }
  const gate = {
    person: ' A person: session or user key.',
    human: ' A signed-in person only, no key.',
    key: ' A key only, no session.',
  }
  const extra = access.scopes?.length ? ` Also keys of scope ${access.scopes.join(', ')}.` : ''
  const role = access.role ? ` Role ${access.role} at least.` : ''
  return `**Who:** ${who[access.who]}${access.gate ? gate[access.gate] : ''}${role}${extra}`
}

function parameters(schema: z.ZodType | undefined, place: 'path' | 'query'): unknown[] {
  if (!schema) return []
  const json = jsonSchema(schema, 'input') as {
    properties?: Record<string, { description?: string }>
    required?: string[]
  }
  return Object.entries(json.properties ?? {}).map(([name, property]) => ({
    name,
    in: place,
    required: place === 'path' || (json.required ?? []).includes(name),
    ...(property.description ? { description: property.description } : {}),
    schema: property,
  }))
}

function requestBody(endpoint: Endpoint): unknown {
  const type =
    endpoint.bodyKind === 'form'
      ? 'application/x-www-form-urlencoded'
      : endpoint.bodyKind === 'raw' && !endpoint.rawJson
        ? 'application/octet-stream'
        : 'application/json'
  const shape = endpoint.rawJson ?? endpoint.body
  const schema = shape ? jsonSchema(shape, 'input') : { type: 'string', format: 'binary' }
  return { required: !endpoint.bodyOptional, content: { [type]: { schema } } }
}

function responses(endpoint: Endpoint): Record<string, unknown> {
  const result: Record<string, unknown> = { [String(endpoint.status ?? 200)]: success(endpoint) }
  const codes: ErrorCode[] = [...(endpoint.fails ?? [])]
  if (endpoint.access.who !== 'none' && endpoint.access.who !== 'internal')
    codes.push('not_authenticated', 'invalid_token')
  if (endpoint.params && ['access', 'owner', 'agent'].includes(endpoint.access.who))
    codes.push('agent_not_found')
  if (endpoint.body || endpoint.query) codes.push('validation_error')
  for (const code of new Set(codes)) {
    const [status, words] = errorCatalogue[code]
    const known = result[String(status)] as { description: string } | undefined
    result[String(status)] = {
      description: known ? `${known.description}\n\n\`${code}\`: ${words}` : `\`${code}\`: ${words}`,
      content: { 'application/json': { schema: { $ref: '#/components/schemas/Error' } } },
    }
  }
  return result
}

function success(endpoint: Endpoint): unknown {
  const content: Record<string, unknown> = {}
  for (const type of endpoint.streams ?? []) content[type] = { schema: { type: 'string' } }
  if (endpoint.returns) content['application/json'] = { schema: jsonSchema(endpoint.returns, 'output') }
  return { description: 'Success', ...(Object.keys(content).length > 0 ? { content } : {}) }
}

function jsonSchema(schema: z.ZodType, io: 'input' | 'output'): Record<string, unknown> {
  const { $schema: _, ...rest } = z.toJSONSchema(schema, { io, unrepresentable: 'any', reused: 'inline' })
  return rest
}
