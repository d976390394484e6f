import { plainHttp } from '@roost/contracts/kit/mcp-remote'
import { clientCommand } from './client/client-command.ts'
import { CommandFailed } from './client/exit.ts'
import { type Command, UsageError } from './command.ts'

type Entry = { url: string; key: string }

/** The configuration of each client, and the file it belongs in. */
const clients: Record<string, { where: string; text(entry: Entry): string }> = {
  'claude-code': {
    where: 'run this once',
    text: ({ url, key }) =>
      `claude mcp add --transport http roost ${url} --header "Authorization: Bearer ${key}"`,
  },
  'claude-desktop': {
    where: 'claude_desktop_config.json; needs npx',
    text: ({ url, key }) =>
      json({
        mcpServers: {
          roost: {
            command: 'npx',
            args: ['-y', 'mcp-remote', url, ...plainHttp(url), '--header', `Authorization: Bearer ${key}`],
          },
        },
      }),
  },
  cursor: {
    where: '~/.cursor/mcp.json, or .cursor/mcp.json in a project',
    text: ({ url, key }) => json({ mcpServers: { roost: { url, headers: headers(key) } } }),
  },
  vscode: {
    where: '.vscode/mcp.json',
    text: ({ url, key }) => json({ servers: { roost: { type: 'http', url, headers: headers(key) } } }),
  },
  windsurf: {
    where: '~/.codeium/windsurf/mcp_config.json',
    text: ({ url, key }) => json({ mcpServers: { roost: { serverUrl: url, headers: headers(key) } } }),
  },
  gemini: {
    where: '~/.gemini/settings.json',
    text: ({ url, key }) => json({ mcpServers: { roost: { httpUrl: url, headers: headers(key) } } }),
  },
  codex: {
    where: '~/.codex/config.toml, with the key in the environment variable ROOST_KEY',
    text: ({ url }) => `[mcp_servers.roost]\nurl = "${url}"\nbearer_token_env_var = "ROOST_KEY"`,
  },
}

export const mcpClientNames = Object.keys(clients)

const command = clientCommand('mcp-config', {
  parameters: 'CLIENT',
  summary: 'Print the configuration snippet that connects an MCP client to this platform.',
  options: { 'show-key': { type: 'boolean' } },
  optionLines: [
    `CLIENT           ${mcpClientNames.join(', ')}`,
    '--show-key       include your key instead of YOUR_KEY (`roost keys create NAME` creates one)',
  ],
  async run({ url, key, positionals: [name = ''], flag, print }) {
    const client = Object.hasOwn(clients, name) ? clients[name] : undefined
    if (!client)
      throw new UsageError(
        `Unknown client ${JSON.stringify(name)}. Use one of: ${mcpClientNames.join(', ')}.`,
      )
    if (key === '') throw new CommandFailed('Not signed in. Run `roost login`.')
    const text = client.text({
      url: `${url.replace(/\/$/, '')}/mcp`,
      key: flag('show-key') ? key : 'YOUR_KEY',
    })
    if (process.stdout.isTTY) console.error(`# ${client.where}`)
    print({ client: name, where: client.where, text }, () => text)
  },
})

export const mcpConfig: Command = { ...command, completions: mcpClientNames }

function headers(key: string): Record<string, string> {
  return { Authorization: `Bearer ${key}` }
}

function json(value: unknown): string {
  return JSON.stringify(value, null, 2)
}
