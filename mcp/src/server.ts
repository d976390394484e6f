import { createHash } from 'node:crypto'
import {
  type CallToolResult,
  ProtocolError,
  ProtocolErrorCode,
  Server,
  type ServerContext,
} from '@modelcontextprotocol/server'
import { issueWords } from '@roost/contracts/kit/issue-words'
import { type UnknownKey, unknownKeys } from '@roost/contracts/kit/unknown-keys'
import type { z } from 'zod'
import { isSeenBy, type ListedTool, listed } from './catalogue.ts'
import type { Exposed } from './exposed.ts'
import type { Caller, ValidKey } from './keys.ts'
import { Refusal, refusalOf } from './refusals.ts'
import type { Tool } from './tool.ts'
import { createWaiting } from './waiting.ts'

/** The audit data of a finished call. */
export type FinishedCall = {
  tool: string
  key: ValidKey
  target: string | null
  outcome: string
  durationMs: number
  argumentNames: string[]
}

export type ServerDeps = {
  version: string
  tools: readonly Tool[]
  exposed: Pick<Exposed, 'toolsFor'>
  waitSeconds: number
  clock: { now(): number }
  called(note: FinishedCall): void
  failed(tool: string, error: unknown): void
}

const instructions =
  'Roost hosts AI agents: each is a coding CLI in a container with a workspace of its own. Start with list_agents; chat_with_agent talks to one and waits for its answer; with a long answer you get a receipt with an execution_id, and get_execution_result brings the answer when it is there.'

/**
 * Creates the protocol server of one key: its visible tools and their calls. `callerNow` runs for each request,
 * because details may change during a session, for example the name of an agent.
 */
export function createServerFactory(deps: ServerDeps): (callerNow: () => Caller) => Server {
  const byName = new Map(deps.tools.map((tool) => [tool.name, tool]))
  const listing = new Map<Tool, ListedTool>()
  const listingOf = (tool: Tool) => {
    const entry = listing.get(tool) ?? listed(tool)
    listing.set(tool, entry)
    return entry
  }

  return function createServer(callerNow) {
    const server = new Server(
      { name: 'roost', title: 'Roost', version: deps.version },
      { capabilities: { tools: { listChanged: true } }, instructions },
    )
    server.setRequestHandler('tools/list', async () => {
      const caller = callerNow()
      if (!caller) return { tools: [] }
      const own = deps.tools.filter((tool) => isSeenBy(tool, caller.key.scope))
      const exposed = await deps.exposed.toolsFor(caller)
      return { tools: [...own.map(listingOf), ...exposed.map(listed)] }
    })
    server.setRequestHandler('tools/call', async ({ params }, context) => {
      const caller = callerNow()
      const match = caller && (await find(caller, params.name))
      if (!caller || !match) {
        throw new ProtocolError(ProtocolErrorCode.InvalidParams, `There is no tool "${params.name}".`)
      }
      return call(match, caller, params.arguments ?? {}, context)
    })

    async function find(by: NonNullable<Caller>, name: string): Promise<Tool | undefined> {
      const known = byName.get(name)
      if (known) return isSeenBy(known, by.key.scope) ? known : undefined
      return (await deps.exposed.toolsFor(by)).find((tool) => tool.name === name)
    }

    async function call(
      tool: Tool,
      by: NonNullable<Caller>,
      given: Record<string, unknown>,
      context: ServerContext,
    ): Promise<CallToolResult> {
      const began = deps.clock.now()
      const executed = await execute(tool, by, given, context)
      const target = tool.target(given, by.key)
      deps.called({
        tool: tool.name,
        key: by.key,
        target: typeof target === 'string' ? target : null,
        outcome: executed.outcome,
        durationMs: deps.clock.now() - began,
        argumentNames: Object.keys(given).slice(0, 50),
      })
      const advertised = tool.output ? listingOf(tool).outputSchema : undefined
      return server.projectCallToolResult(resultOf(executed, advertised !== undefined), advertised)
    }
    return server
  }

  async function execute(
    tool: Tool,
    by: NonNullable<Caller>,
    given: Record<string, unknown>,
    context: ServerContext,
  ): Promise<{ body: object; isError: boolean; outcome: string }> {
    try {
      const isOther = tool.audience === 'agent' && by.key.scope !== 'agent'
      if (isOther)
        throw new Refusal('agent_identity_required', 'Only an agent can do this, with its own key.')
      const unknown = unknownKeys(tool.input, given)
      const read = tool.input.safeParse(given, { error: issueWords })
      if (unknown.length > 0 || !read.success) throw badParameters(tool, unknown, read.error?.issues ?? [])
      const body = await tool.run(
        {
          ...by,
          signal: context.mcpReq.signal,
          waitSeconds: deps.waitSeconds,
          headerKey: context.http?.req?.headers.get('idempotency-key') || null,
          retryKey: retryKeyOf(tool.name, given, context),
          waiting: createWaiting(context),
        },
        // Validated by the tool's schema above.
        read.data as never,
      )
      return { body, isError: false, outcome: 'ok' }
    } catch (error) {
      const refusal = refusalOf(error, tool, by.key, given)
      if (refusal) return { body: refusal, isError: true, outcome: String(refusal.error) }
      deps.failed(tool.name, error)
      const message = 'The platform could not be asked. Try again in a moment.'
      return { body: { error: 'platform_unreachable', message }, isError: true, outcome: 'failed' }
    }
  }
}

/**
 * Returns a key that is equal for retries. Within a session a repeated request id means a retry; without a
 * session every client starts at the same id, so the result is null.
 */
function retryKeyOf(tool: string, given: object, { sessionId, mcpReq }: ServerContext): string | null {
  if (sessionId === undefined) return null
  return createHash('sha256')
    .update(JSON.stringify([sessionId, mcpReq.id, tool, given]))
    .digest('base64url')
}

/**
 * Returns the JSON as text and as structured content. A refusal of a tool with an output schema is text only:
 * clients validate structured content and would report the mismatch instead of the refusal.
 */
function resultOf({ body, isError }: { body: object; isError: boolean }, hasSchema: boolean): CallToolResult {
  const content = [{ type: 'text' as const, text: JSON.stringify(body) }]
  if (isError && hasSchema) return { content, isError }
  // Every tool returns a JSON object.
  return { content, structuredContent: body as Record<string, unknown>, isError }
}

/** Limits the length of the message. */
const maxListedFaults = 20

function badParameters(
  tool: Tool,
  unknown: readonly UnknownKey[],
  issues: readonly z.core.$ZodIssue[],
): Refusal {
  const faults = [
    ...unknown.map(({ path, key, known }) =>
      path.length > 0
        ? `${path.join('.')}: unknown "${key}"`
        : `unknown parameter "${key}"; ${tool.name} takes ${known.join(', ') || 'none'}`,
    ),
    ...issues.map(({ path, message }) => (path.length > 0 ? `${path.join('.')}: ${message}` : message)),
  ]
  return new Refusal('invalid_parameters', faults.slice(0, maxListedFaults).join('; '))
}
