import type { ModelRequest, OfferedTool } from './conversation.ts'
import { type JsonObject, objectsOf, textOf } from './json.ts'

/** A call in the format of an offered tool; `argument` is JSON or free text. */
export type ToolCall = { form: OfferedTool['form']; name: string; namespace: string | null; argument: string }

/** Collects the tools of a request: its own list, namespaces and, in code mode, an item of the input. */
export function readTools(body: JsonObject): OfferedTool[] {
  const added = objectsOf(body.input).filter((item) => item.type === 'additional_tools')
  return [body, ...added].flatMap((holder) => objectsOf(holder.tools).flatMap((tool) => readTool(tool, null)))
}

/**
 * Translates a call of `Bash`, `Write` or a named tool; null when no offered tool can run it. Depending on
 * the model, codex offers only a shell, a shell and `apply_patch`, or one `exec` that runs JavaScript.
 */
export function translateCall(request: ModelRequest, tool: string, input: JsonObject): ToolCall | null {
  const offered = request.tools.find((one) => one.name === tool)
  if (offered) return callOf(offered, input)
  if (tool === 'Bash') return shellCall(request, textOf(input.command))
  if (tool === 'Write') return patchCall(request, patchOf(textOf(input.file_path), textOf(input.content)))
  return namespacedCall(request, tool, input) ?? deferredCall(request, tool, input)
}

function readTool(tool: JsonObject, namespace: string | null): OfferedTool[] {
  const name = textOf(tool.name)
  if (tool.type === 'namespace') return objectsOf(tool.tools).flatMap((inner) => readTool(inner, name))
  if (name === '') return []
  const form = tool.type === 'custom' ? 'custom' : 'function'
  return [{ name, description: textOf(tool.description), form, namespace }]
}

function callOf({ form, name, namespace }: OfferedTool, input: JsonObject): ToolCall {
  return { form, name, namespace, argument: JSON.stringify(input) }
}

function freeCall({ form, name, namespace }: OfferedTool, argument: string): ToolCall {
  return { form, name, namespace, argument }
}

/** MCP tools are in the namespace `mcp__server`; the full name joins both. */
function namespacedCall(request: ModelRequest, tool: string, input: JsonObject): ToolCall | null {
  const offered = request.tools.find((one) => `${one.namespace}__${one.name}` === tool)
  return offered ? callOf(offered, input) : null
}

/**
 * In code mode MCP tools need not be listed: `exec` finds them when the script runs. A missing tool is
 * reported like one that was not offered.
 */
function deferredCall(request: ModelRequest, tool: string, input: JsonObject): ToolCall | null {
  if (!/^mcp__\w+$/.test(tool)) return null
  const source = [
    '// @exec: {"yield_time_ms": 600000}',
    `const called = tools[${JSON.stringify(tool)}]`,
    `if (called === undefined) text(${JSON.stringify(`no-tool: ${tool}`)})`,
    `else for (const each of (await called(${JSON.stringify(input)})).content) text(each.text)`,
  ].join('\n')
  const exec = codeTool(request, 'ALL_TOOLS')
  return exec && freeCall(exec, source)
}

function shellCall(request: ModelRequest, command: string): ToolCall | null {
  for (const offered of request.tools) {
    // Without this wait, a command of over ten seconds would return as still running.
    if (offered.name === 'exec_command') return callOf(offered, { cmd: command, yield_time_ms: MAX_YIELD_MS })
    if (offered.name === 'shell_command') return callOf(offered, { command })
    if (offered.name === 'shell') return callOf(offered, { command: ['bash', '-lc', command] })
  }
  return scriptCall(request, 'exec_command', runToEnd(command))
}

function patchCall(request: ModelRequest, patch: string): ToolCall | null {
  const offered = request.tools.find((one) => one.name === 'apply_patch')
  if (offered) return offered.form === 'custom' ? freeCall(offered, patch) : callOf(offered, { input: patch })
  const script = scriptCall(request, 'apply_patch', `text(await tools.apply_patch(${JSON.stringify(patch)}))`)
  // With only a shell, codex itself turns this command into a patch.
  return script ?? shellCall(request, `apply_patch <<'ROOST_END'\n${patch}ROOST_END`)
}

const MAX_YIELD_MS = 30_000

function scriptCall(request: ModelRequest, inner: string, source: string): ToolCall | null {
  const exec = codeTool(request, `${inner}(`)
  return exec && freeCall(exec, source)
}

/** Returns the tool that runs JavaScript if its description contains the word. */
function codeTool(request: ModelRequest, word: string): OfferedTool | null {
  const exec = request.tools.find((one) => one.form === 'custom' && one.name === 'exec')
  return exec?.description.includes(word) ? exec : null
}

/** JavaScript for `exec`: runs the command to its end and returns all output. */
function runToEnd(command: string): string {
  return [
    '// @exec: {"yield_time_ms": 600000}',
    `let run = await tools.exec_command(${JSON.stringify({ cmd: command, yield_time_ms: MAX_YIELD_MS })})`,
    'let output = run.output',
    'while (run.session_id !== undefined && run.exit_code === undefined) {',
    `  run = await tools.write_stdin({ session_id: run.session_id, yield_time_ms: ${MAX_YIELD_MS} })`,
    '  output += run.output',
    '}',
    'text(output)',
  ].join('\n')
}

function patchOf(path: string, content: string): string {
  const lines = content.replace(/\n$/, '').split('\n')
  return [
    '*** Begin Patch',
    `*** Add File: ${path}`,
    ...lines.map((line) => `+${line}`),
    '*** End Patch',
    '',
  ].join('\n')
}
