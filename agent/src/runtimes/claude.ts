import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { isObject, type Json, objectAt, textAt } from '../kit/json.ts'
import { claudeHomeScript } from './claude-home.ts'
import { createClaudeTurn } from './claude-lines.ts'
import { endedWithoutResult, failed } from './faults.ts'
import type { Dialogue, Launch, ReadOnlyRules, Runtime, Setup, Step, TurnInput } from './port.ts'
import { mayWrite, refusal } from './read-only.ts'

/**
 * Runs Claude Code through its JSON line protocol, for tasks and conversations. The system prompt and the
 * read-only hook are sent in the protocol's handshake, not in arguments or files. This program answers the
 * hook, and `disableAllHooks` in a workspace does not disable it.
 */
export const claude: Runtime = {
  name: 'claude-code',
  command: 'claude',
  keepsAlive: () => true,
  async prepare(setup) {
    const files = await writeFiles(setup)
    return { ...launch(setup, files), before: claudeHomeScript(setup) }
  },
  converse,
}

/** Tools that conflict with the platform: schedules, background work and worktrees. */
const unwantedTools = [
  'ScheduleWakeup',
  'SendMessage',
  'Monitor',
  'EnterWorktree',
  'ExitWorktree',
  'ListAgents',
]

const retries = '8'

/** Private files with settings and servers: arguments are visible to every process of the container. */
type Files = { settings: string; servers: string | null }

/** The CLI reads the workspace itself while only the owner can have written there. */
const readsWorkspace = ({ obeys }: Setup) => obeys.settings === null

async function writeFiles(setup: Setup): Promise<Files> {
  const { obeys, servers, mcp, places, readOnly, credentials } = setup
  const base = { enableAllProjectMcpServers: true }
  if (obeys.settings === null) return { settings: JSON.stringify(base), servers: null }
  const write = async (name: string, content: object) => {
    const path = join(places.scratch, name)
    await writeFile(path, JSON.stringify(content), { mode: 0o600 })
    return path
  }
  const settings = obeys.settings.map(parsed).reduce(merged, {})
  // The reader gets no servers: they contain credentials that only the developer may read.
  const others = readOnly && credentials ? {} : servers
  const all = { ...others, ...(mcp ? { roost: roostServer(mcp.url) } : {}) }
  return {
    settings: await write('settings.json', { ...settings, ...base }),
    servers: await write('servers.json', { mcpServers: all }),
  }
}

/** Settings that are not valid JSON have no effect, as with the CLI. */
function parsed(text: string): Json {
  try {
    const value: unknown = JSON.parse(text)
    return isObject(value) ? value : {}
  } catch {
    return {}
  }
}

/** Merges as the CLI does: later values win, objects are merged, lists are joined. */
function merged(first: Json, second: Json): Json {
  const result = { ...first }
  for (const [name, value] of Object.entries(second)) {
    const before = Object.hasOwn(first, name) ? first[name] : undefined
    if (Array.isArray(before) && Array.isArray(value)) result[name] = [...before, ...value]
    else if (isObject(before) && isObject(value)) result[name] = merged(before, value)
    else result[name] = value
  }
  return result
}

function launch(setup: Setup, files: Files): Launch {
  const args = [
    '-p',
    '--input-format=stream-json',
    '--output-format=stream-json',
    '--verbose',
    '--include-partial-messages',
    // Otherwise a resumed session ignores a changed system prompt.
    '--system-prompt-snapshot=off',
    `--disallowedTools=${unwantedTools.join(',')}`,
    `--settings=${files.settings}`,
  ]
  // `--allowedTools` has no effect while permissions are bypassed.
  if (setup.allowedTools === null) args.push('--dangerously-skip-permissions')
  else {
    args.push('--permission-mode=dontAsk', `--allowedTools=${setup.allowedTools.join(',')}`)
    // The CLI runs read-only tools without asking, including shell commands. `--tools` removes every tool
    // that is not listed.
    args.push(`--tools=${builtInTools(setup.allowedTools)}`)
  }
  // Without it a resumed session keeps the previous turn's model.
  args.push(`--model=${setup.model ?? 'default'}`)
  if (setup.maxTurns !== null) args.push(`--max-turns=${setup.maxTurns}`)
  if (setup.resumeSessionId) args.push(`--resume=${setup.resumeSessionId}`)
  // Somebody else may have written settings with hooks and servers into the workspace.
  if (!readsWorkspace(setup)) args.push('--strict-mcp-config', '--setting-sources=user')
  if (files.servers) args.push(`--mcp-config=${files.servers}`)
  else if (setup.mcp) args.push(`--mcp-config=${mcpConfig(setup.mcp.url)}`)
  return { command: 'claude', args, env: environment(setup) }
}

/**
 * Returns the tool names without their patterns. MCP tools are not built in, and the CLI ignores unknown
 * names.
 */
function builtInTools(allowed: readonly string[]): string {
  const names = allowed.filter((tool) => !tool.startsWith('mcp__')).map((tool) => tool.replace(/\(.*/s, ''))
  return [...new Set(names)].join(',')
}

function environment({ broker, mcp, places }: Setup): Record<string, string | null> {
  return {
    CLAUDE_CONFIG_DIR: places.state,
    ANTHROPIC_BASE_URL: `${broker.url}/anthropic`,
    ANTHROPIC_AUTH_TOKEN: broker.token,
    ANTHROPIC_API_KEY: null,
    ROOST_MCP_KEY: mcp?.key ?? null,
    // The broker marks hopeless errors; the other retries bridge a restart of the platform.
    CLAUDE_CODE_MAX_RETRIES: retries,
    CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1',
    CLAUDE_CODE_DISABLE_CRON: '1',
    CLAUDE_CODE_DISABLE_WORKFLOWS: '1',
    CLAUDE_CODE_DISABLE_BACKGROUND_TASKS: '1',
    CLAUDE_CODE_DISABLE_BUNDLED_SKILLS: '1',
    DISABLE_AUTOUPDATER: '1',
  }
}

/** The CLI substitutes the variable, so the key appears only in the environment. */
function roostServer(url: string): object {
  return { type: 'http', url, headers: { Authorization: `Bearer \${ROOST_MCP_KEY}` } }
}

const mcpConfig = (url: string) => JSON.stringify({ mcpServers: { roost: roostServer(url) } })

const initializeId = 'roost-initialize'
const writingTools = 'Write|Edit|MultiEdit|NotebookEdit'

function converse(setup: Setup, now: () => number): Dialogue {
  let isInitialized = false
  let sessionId = setup.resumeSessionId
  let turn = createClaudeTurn(sessionId, now)
  let interrupts = 0

  function initialize(): Step[] {
    if (isInitialized) return []
    isInitialized = true
    if (setup.systemPrompt === '' && !setup.readOnly) return []
    const hooks = setup.readOnly
      ? { PreToolUse: [{ matcher: writingTools, hookCallbackIds: ['read-only'], onFailure: 'block' }] }
      : undefined
    const request = {
      subtype: 'initialize',
      ...(hooks ? { hooks } : {}),
      ...(setup.systemPrompt === '' ? {} : { appendSystemPrompt: setup.systemPrompt }),
    }
    return [write({ type: 'control_request', request_id: initializeId, request })]
  }

  /** A refused handshake ends the turn, because the handshake carries the turn's rules. */
  function readHandshake(line: Json): Step[] {
    const response = objectAt(line, 'response')
    if (textAt(response, 'subtype') !== 'error' || textAt(response, 'request_id') !== initializeId) return []
    const message = `The runtime refused its set-up: ${textAt(response, 'error') ?? 'no reason given'}`
    return [
      { do: 'end', outcome: failed({ message }, { metadata: {}, sessionId, errorCode: 'agent_error' }) },
    ]
  }

  return {
    begin(input) {
      turn = createClaudeTurn(sessionId, now)
      const message = { role: 'user', content: contentOf(input) }
      return [...initialize(), write({ type: 'user', message })]
    },
    read(line) {
      const type = textAt(line, 'type')
      if (type === 'control_request') return answerRequest(line, setup)
      if (type === 'control_response') return readHandshake(line)
      const steps = turn.read(line)
      sessionId = turn.sessionId()
      return steps
    },
    interrupt() {
      interrupts += 1
      const request = { subtype: 'interrupt' }
      return `${JSON.stringify({ type: 'control_request', request_id: `interrupt-${interrupts}`, request })}\n`
    },
    ended(exit) {
      const outcome = endedWithoutResult(exit, { metadata: turn.metadata(), sessionId })
      return setup.resumeSessionId && /No conversation found/.test(exit.stderr)
        ? { ...outcome, errorCode: 'agent_error', metadata: { ...outcome.metadata, session_lost: true } }
        : outcome
    },
  }
}

function answerRequest(line: Json, setup: Setup): Step[] {
  const request = objectAt(line, 'request')
  const about = { request_id: textAt(line, 'request_id') ?? '' }
  if (textAt(request, 'subtype') === 'hook_callback' && setup.readOnly) {
    const response = judge(objectAt(request, 'input'), setup.readOnly, setup.places.home)
    return [write({ type: 'control_response', response: { subtype: 'success', ...about, response } })]
  }
  const error = 'This request is not supported.'
  return [write({ type: 'control_response', response: { subtype: 'error', ...about, error } })]
}

function judge(input: Json, rules: ReadOnlyRules, home: string): object {
  const toolInput = objectAt(input, 'tool_input')
  const path = textAt(toolInput, 'file_path') ?? textAt(toolInput, 'notebook_path')
  if (path !== null && mayWrite(rules, home, path)) return {}
  return {
    hookSpecificOutput: {
      hookEventName: 'PreToolUse',
      permissionDecision: 'deny',
      permissionDecisionReason: refusal(rules, path ?? 'this file'),
    },
  }
}

function contentOf({ text, images }: TurnInput): string | object[] {
  if (images.length === 0) return text
  const blocks = images.map(({ mimetype, data }) => ({
    type: 'image',
    source: { type: 'base64', media_type: mimetype, data },
  }))
  return [{ type: 'text', text }, ...blocks]
}

function write(message: object): Step {
  return { do: 'write', text: `${JSON.stringify(message)}\n` }
}
