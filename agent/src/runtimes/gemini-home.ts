import { existsSync } from 'node:fs'
import { mkdir, readFile, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { McpServer } from '@roost/contracts/link/credentials'
import { quote } from '../processes/tree.ts'
import { folderScript } from './claude-home.ts'
import { hookCommand } from './hook-command.ts'
import type { Setup } from './port.ts'

/**
 * Gemini CLI reads its settings and instructions only from a home folder. Each process gets its own outside
 * the workspace, so parallel turns can have different instructions. Sessions are linked from the volume.
 * `before` is shell code that prepares those.
 */
export async function prepareGeminiHome(
  setup: Setup,
): Promise<{ geminiHome: string; images: string; before: string }> {
  const { places } = setup
  const folder = join(places.scratch, '.gemini')
  const images = join(places.scratch, 'images')
  await Promise.all([folder, images].map((path) => mkdir(path, { recursive: true })))
  for (const name of ['tmp', 'history']) {
    await symlink(join(places.state, name), join(folder, name))
  }
  // Instructions in this file go into the system prompt; those of the workspace go into the first message.
  await writeFile(join(folder, 'GEMINI.md'), setup.systemPrompt)
  await writeFile(join(folder, 'settings.json'), JSON.stringify(await settings(setup)))
  const folders = ['tmp', 'history'].map((name) => folderScript(join(places.state, name)))
  const protect = setup.resumeSessionId ? protectScript(places.state, setup.resumeSessionId) : ''
  return { geminiHome: places.scratch, images, before: [...folders, protect].join('\n') }
}

async function settings(setup: Setup): Promise<object> {
  const common = JSON.parse(await readFile(new URL('./gemini-settings.json', import.meta.url), 'utf8'))
  const tools = setup.allowedTools?.map(toGeminiTool) ?? null
  const mayUseMcp = tools === null || tools.some((name) => name.startsWith('mcp_'))
  return {
    ...common,
    context: { fileName: contextFiles(setup.places.home) },
    ...(setup.maxTurns === null ? {} : { model: { maxSessionTurns: setup.maxTurns } }),
    ...(tools ? { tools: { core: tools } } : {}),
    ...(mayUseMcp ? { mcpServers: mcpServers(setup) } : {}),
    ...(setup.readOnly ? { hooks: { BeforeTool: [writeHook(setup)] } } : {}),
  }
}

/** Uses the instruction file of another CLI if the workspace has no own one. */
function contextFiles(home: string): string[] {
  const own = ['GEMINI.md', 'AGENTS.md', 'CLAUDE.md'].find((name) => existsSync(join(home, name)))
  return [...new Set(['GEMINI.md', own ?? 'GEMINI.md'])]
}

function mcpServers({ mcp, servers }: Setup): object {
  const others = Object.entries(servers).map(([name, server]) => [name, otherServer(server)])
  return { ...Object.fromEntries(others), ...(mcp ? { roost: mcpServer(mcp.url) } : {}) }
}

/** This file is in the process's own folder and is deleted with it. */
function otherServer(server: McpServer): object {
  if ('command' in server) return { ...server, trust: true }
  const { type, url, headers = {} } = server
  return { ...(type === 'http' ? { httpUrl: url } : { url }), headers, trust: true }
}

/** The CLI substitutes the key from its environment. */
function mcpServer(url: string): object {
  return { httpUrl: url, headers: { Authorization: 'Bearer $ROOST_MCP_KEY' }, trust: true }
}

function writeHook(setup: Setup): object {
  const command = hookCommand(setup, 'gemini')
  return { matcher: 'write_file|replace', hooks: [{ type: 'command', command, timeout: 10_000 }] }
}

const geminiNames: Record<string, string> = {
  Bash: 'run_shell_command',
  Read: 'read_file',
  Write: 'write_file',
  Edit: 'replace',
  Glob: 'glob',
  Grep: 'grep_search',
  LS: 'list_directory',
  WebFetch: 'web_fetch',
  WebSearch: 'google_web_search',
  TodoWrite: 'write_todos',
}

/** Converts tool names of Claude Code (`Bash(git *)`, `mcp__roost__x`); names of this CLI stay. */
export function toGeminiTool(name: string): string {
  const [, tool = name, argument] = /^(\w+)(?:\((.*)\))?$/.exec(name.trim()) ?? []
  if (tool.startsWith('mcp__')) return `mcp_${tool.slice(5).replaceAll('__', '_')}`
  const known = geminiNames[tool] ?? tool
  const prefix = argument?.replace(/[:\s]*\*$/, '').trim()
  return prefix ? `${known}(${prefix})` : known
}

const archived = '2000-01-01T00-00'

/**
 * Loading a session creates a file named by the current minute. It overwrites a session that started in the
 * same minute. Sessions are therefore renamed to an older minute first. Files that a load leaves next to the
 * complete one, the largest, hold only its end.
 */
function protectScript(state: string, sessionId: string): string {
  const short = sessionId.slice(0, 8).replace(/[^A-Za-z0-9_-]/g, '')
  return `for folder in ${quote(join(state, 'tmp'))}/*/chats; do
  complete=$(ls -S -- "$folder" 2>/dev/null | grep -e '-${short}\\.jsonl$' | head -n 1)
  [ -n "$complete" ] || continue
  for copy in "$folder"/*-${short}.jsonl; do [ "$copy" = "$folder/$complete" ] || rm -f -- "$copy"; done
  target="$folder/session-${archived}-${short}.jsonl"
  [ "$folder/$complete" = "$target" ] || mv -f -- "$folder/$complete" "$target"
done`
}
