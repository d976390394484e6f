import { randomUUID } from 'node:crypto'
import { readFile, rename, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { McpServer } from '@roost/contracts/link/credentials'

const mark = '# Written by Roost from .mcp.json before each turn.\n'

/**
 * Writes the workspace's MCP servers to the config file in Codex's home. They contain credentials, and every
 * process can read arguments.
 */
export async function writeCodexServers(home: string, servers: Record<string, McpServer>): Promise<void> {
  const path = join(home, 'config.toml')
  const sections = Object.entries(servers).flatMap(([name, server]) =>
    // Codex exits on names with other characters.
    /^[A-Za-z0-9_-]+$/.test(name) ? [section(name, server)] : [],
  )
  const text = sections.length === 0 ? null : mark + sections.join('\n')
  const present = await readFile(path, 'utf8').catch(() => null)
  if (present === text) return
  if (text === null) {
    if (present?.startsWith(mark)) await rm(path, { force: true })
    return
  }
  const part = `${path}.${randomUUID()}`
  await writeFile(part, text, { flag: 'wx', mode: 0o600 })
  await rename(part, path)
}

function section(name: string, server: McpServer): string {
  const fields =
    'command' in server
      ? { command: server.command, args: server.args ?? [], env: server.env ?? {} }
      : { url: server.url, http_headers: server.headers ?? {} }
  const lines = Object.entries(fields).map(([key, value]) => `${key} = ${toml(value)}`)
  return `[mcp_servers.${name}]\n${lines.join('\n')}\n`
}

/** Returns a TOML value. JSON is valid TOML, except for tables and an unescaped DEL character. */
export function toml(value: unknown): string {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    return JSON.stringify(value).toWellFormed().replaceAll('\x7f', '\\u007f')
  }
  return `{${Object.entries(value)
    .map(([key, each]) => `${toml(key)} = ${toml(each)}`)
    .join(', ')}}`
}
