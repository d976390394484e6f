import type { McpServer } from '@roost/contracts/link/credentials'

/** Codex drops a server without an answer after 10 s by default: too early for `npx` or a busy machine. */
export const serverStartSeconds = 60

/**
 * Returns the workspace's MCP servers as sections of Codex's config file. They contain credentials, and every
 * process can read arguments.
 */
export function codexServers(servers: Record<string, McpServer>): string {
  const sections = Object.entries(servers).flatMap(([name, server]) =>
    // Codex exits on names with other characters.
    /^[A-Za-z0-9_-]+$/.test(name) ? [section(name, server)] : [],
  )
  return sections.join('\n')
}

function section(name: string, server: McpServer): string {
  const fields =
    'command' in server
      ? { command: server.command, args: server.args ?? [], env: server.env ?? {} }
      : { url: server.url, http_headers: server.headers ?? {} }
  const all = { ...fields, startup_timeout_sec: serverStartSeconds }
  const lines = Object.entries(all).map(([key, value]) => `${key} = ${toml(value)}`)
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
