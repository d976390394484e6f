import type { z } from 'zod'
import { schemas } from './index.ts'
import { type Endpoint, isStrict, isUnparsed } from './kit/endpoint.ts'
import { type HeaderInfo, type RequestHeader, replyHeaders, requestHeaders } from './kit/headers.ts'
import { errorSchema, issueSchema, mediaSchema, repliesOf, type SharedReplies } from './openapi/replies.ts'
import { createSchemaWriter, type Json, type SchemaWriter } from './openapi/schemas.ts'

export type OpenApiDocument = { openapi: '3.1.0'; info: Json; [key: string]: unknown }

/** Builds the document behind `/docs` from the same values that serve the calls. */
export function openApiDocument(endpoints: readonly Endpoint[], version: string): OpenApiDocument {
  const writer = createSchemaWriter(schemas, endpoints.flatMap(shapesOf), endpoints.flatMap(parametersOf))
  const shared: SharedReplies = new Map()
  const paths: Record<string, Json> = {}
  for (const endpoint of endpoints) {
    const { path, method } = endpoint
    paths[path] = { ...paths[path], [method.toLowerCase()]: operation(endpoint, writer, shared) }
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
          description:
            'A session token from POST /api/token, or an MCP key (svc_mcp_…). On the internal listener: the internal secret of the installation.',
        },
      },
      schemas: { ErrorBody: errorSchema, ValidationIssue: issueSchema, ...writer.components() },
      parameters: headerParameters(endpoints),
      headers: replyHeaders,
      responses: Object.fromEntries([...shared].sort(([one], [other]) => (one < other ? -1 : 1))),
    },
  }
}

function operation(endpoint: Endpoint, writer: SchemaWriter, shared: SharedReplies): Json {
  return {
    operationId: endpoint.id,
    summary: endpoint.summary,
    description: [endpoint.description, strictWords(endpoint), accessWords(endpoint)]
      .filter(Boolean)
      .join('\n\n'),
    tags: [endpoint.tag],
    security: endpoint.access.who === 'none' ? [] : [{ bearer: [] }],
    parameters: [
      ...parameters(endpoint, 'path', writer),
      ...parameters(endpoint, 'query', writer),
      ...headersOf(endpoint).map((name) => ({ $ref: `#/components/parameters/${name}` })),
    ],
    ...(endpoint.body || isUnparsed(endpoint) ? { requestBody: requestBody(endpoint, writer) } : {}),
    responses: repliesOf(endpoint, writer, shared),
  }
}

function shapesOf({ body, rawJson, returns, also = [] }: Endpoint): z.ZodType[] {
  return [body, rawJson, returns, ...also.map((other) => other.returns)].filter(
    (shape) => shape !== undefined,
  )
}

function parametersOf({ params, query }: Endpoint): z.ZodType[] {
  return [params, query].filter((shape) => shape !== undefined)
}

function headersOf({ headers = [] }: Endpoint): RequestHeader[] {
  return ['X-Request-ID', ...headers]
}

function headerParameters(endpoints: readonly Endpoint[]): Json {
  const read = new Set(endpoints.flatMap(headersOf))
  const infos = Object.entries<HeaderInfo>(requestHeaders).filter(([name]) => read.has(name as RequestHeader))
  return Object.fromEntries(infos.map(([name, info]) => [name, { name, in: 'header', ...info }]))
}

function strictWords(endpoint: Endpoint): string {
  if (!isStrict(endpoint)) return ''
  const unknown = 'Unknown names in the query and the body are rejected with 422.'
  return endpoint.query && endpoint.body
    ? `The query may contain the fields of the body as well; the body wins. ${unknown}`
    : unknown
}

function accessWords({ access }: Endpoint): string {
  const who: Record<typeof access.who, string> = {
    none: 'Anyone, without a credential.',
    any: 'Any valid session, or a key whose scope allows it.',
    access: 'Callers with access to the agent.',
    owner: "The agent's owner or an admin.",
    admin: 'Admins.',
    agent: "The agent's own key.",
    workspace: 'A person with a Workspace session or a platform session.',
    internal: 'The internal listener only, with its secret as bearer token.',
  }
  const gate = {
    person: ' A person only: session or user key.',
    human: ' A signed-in person only, no key.',
    key: ' A key only, no session.',
  }
  const extra = access.scopes?.length ? ` Also keys of scope ${access.scopes.join(', ')}.` : ''
  const also = access.alsoAdmits ? ` Also ${furtherCredentials[access.alsoAdmits]}.` : ''
  const role = access.role ? ` Minimum role: ${access.role}.` : ''
  return `**Who:** ${who[access.who]}${access.gate ? gate[access.gate] : ''}${role}${extra}${also}`
}

const furtherCredentials = { agent: "an agent's own key", metrics_token: 'the token of the metrics' }

function parameters(endpoint: Endpoint, place: 'path' | 'query', writer: SchemaWriter): Json[] {
  const schema = place === 'path' ? endpoint.params : endpoint.query
  if (!schema) return []
  return writer.writeParameters(schema).map(({ name, isRequired, schema: { description, ...json } }) => ({
    name,
    in: place,
    required: place === 'path' || isRequired,
    ...(description ? { description } : {}),
    schema: json,
  }))
}

function requestBody(endpoint: Endpoint, writer: SchemaWriter): Json {
  const { bodyKind, rawJson, body, bodyOptional, accepts = ['application/octet-stream'] } = endpoint
  const required = !bodyOptional
  const shape = isUnparsed(endpoint) ? rawJson : body
  if (!shape) {
    return {
      required,
      content: Object.fromEntries(accepts.map((type) => [type, { schema: mediaSchema(type) }])),
    }
  }
  const json = writer.write(shape, 'input')
  const type = bodyKind === 'form' ? 'application/x-www-form-urlencoded' : 'application/json'
  return { required, content: { [type]: { schema: endpoint.strict ? closed(json) : json } } }
}

/** Forbids unknown names here only: the schema may be a component of endpoints that allow them. */
function closed(json: Json): Json {
  return '$ref' in json ? { ...json, unevaluatedProperties: false } : { ...json, additionalProperties: false }
}
