import type { ConnectorSnippet } from '@roost/contracts/agents/connector'
import { plainHttp } from '@roost/contracts/kit/mcp-remote'

/** Configurations to paste into MCP clients. Server names there allow letters, digits and hyphens. */
export function snippetsOf(agentName: string, mcpUrl: string, key: string): ConnectorSnippet[] {
  const server = agentName.replaceAll('_', '-')
  const headers = { Authorization: `Bearer ${key}` }
  const json = (value: object) => JSON.stringify(value, null, 2)
  return [
    {
      client: 'claude-code',
      label: 'Claude Code',
      format: 'shell',
      content: `claude mcp add --transport http ${server} ${quote(mcpUrl)} --header ${quote(`Authorization: Bearer ${key}`)}`,
    },
    {
      client: 'claude-desktop',
      label: 'Claude Desktop',
      format: 'json',
      content: json({
        mcpServers: {
          [server]: {
            command: 'npx',
            args: [
              '-y',
              'mcp-remote',
              mcpUrl,
              ...plainHttp(mcpUrl),
              '--header',
              `Authorization: Bearer ${key}`,
            ],
          },
        },
      }),
    },
    {
      client: 'cursor',
      label: 'Cursor',
      format: 'json',
      content: json({ mcpServers: { [server]: { url: mcpUrl, headers } } }),
    },
    {
      client: 'vscode',
      label: 'VS Code',
      format: 'json',
      content: json({ servers: { [server]: { type: 'http', url: mcpUrl, headers } } }),
    },
    {
      client: 'gemini-cli',
      label: 'Gemini CLI',
      format: 'json',
      content: json({ mcpServers: { [server]: { httpUrl: mcpUrl, headers } } }),
    },
  ]
}

/** Quotes one word for a POSIX shell. */
function quote(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`
}
