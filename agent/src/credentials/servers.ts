import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { type McpServer, mcpServerFault, mcpServersOf, ownServer } from '@roost/contracts/link/credentials'

/** Returns the valid entries of `.mcp.json` without the platform's own. Empty when the file is unreadable. */
export async function readMcpServers(home: string): Promise<Record<string, McpServer>> {
  const text = await readFile(join(home, '.mcp.json'), 'utf8').catch(() => '')
  return Object.fromEntries(
    Object.entries(mcpServersOf(text) ?? {}).filter(
      (entry): entry is [string, McpServer] => entry[0] !== ownServer && mcpServerFault(entry[1]) === null,
    ),
  )
}
