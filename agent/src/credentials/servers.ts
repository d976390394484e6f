import { type McpServer, mcpServerFault, mcpServersOf, ownServer } from '@roost/contracts/link/credentials'

/** Returns the valid entries of a text of `.mcp.json` without the platform's own. Empty for null and invalid text. */
export function mcpServersIn(text: string | null): Record<string, McpServer> {
  return Object.fromEntries(
    Object.entries(mcpServersOf(text ?? '') ?? {}).filter(
      (entry): entry is [string, McpServer] => entry[0] !== ownServer && mcpServerFault(entry[1]) === null,
    ),
  )
}
