import { existsSync, realpathSync } from 'node:fs'
import { mkdir, writeFile } from 'node:fs/promises'
import { delimiter, dirname, join } from 'node:path'
import { folderScript, linkScript } from './claude-home.ts'
import { converseCodex } from './codex-lines.ts'
import { codexServers, serverStartSeconds, toml } from './codex-servers.ts'
import { hookCommand } from './hook-command.ts'
import type { Launch, Runtime, Setup } from './port.ts'

/**
 * Runs Codex with one process per turn, which resumes the thread in about 0.2 s. Arguments override every
 * `config.toml`. Secrets are in the environment, instructions and servers in a private file.
 */
export function createCodex({ path }: { path: string }): Runtime {
  return {
    name: 'codex',
    command: 'codex',
    caveats,
    keepsAlive: () => false,
    prepare: (setup) => prepare(setup, path),
    converse: converseCodex,
  }
}

/** Delays double from 0.2 s to 12 s in total, which bridges a restart of the platform. */
const retries = 6

function caveats({ allowedTools, maxTurns }: Setup): string[] {
  const limitations = []
  if (allowedTools)
    limitations.push(
      `Codex cannot be limited to single tools: its shell is ${namesShell(allowedTools) ? 'on' : 'off'}, and its other tools stay enabled.`,
    )
  if (maxTurns !== null) limitations.push('Codex has no turn limit: only the time limit applies.')
  return limitations
}

function namesShell(tools: string[]): boolean {
  return tools.some((tool) => /^(Bash|shell|exec_command)\b/.test(tool))
}

async function prepare(setup: Setup, path: string): Promise<Launch> {
  const codexHome = join(setup.places.scratch, 'codex')
  const before = await prepareCodexHome(setup, codexHome)
  const settings: [string, unknown][] = [
    ['model_provider', 'roost'],
    ['sandbox_mode', 'danger-full-access'],
    ['approval_policy', 'never'],
    ['check_for_update_on_startup', false],
    ['features.plugins', false],
    ['features.apps', false],
    ['analytics.enabled', false],
    ['project_doc_fallback_filenames', ['CLAUDE.md']],
  ]
  if (setup.allowedTools && !setup.allowedTools.some((tool) => /^(Bash|shell|exec_command)\b/.test(tool)))
    settings.push(['features.shell_tool', false], ['features.unified_exec', false])
  const args = ['exec', '--json', '--skip-git-repo-check', '-c', provider(setup)]
  if (setup.mcp) args.push('-c', mcpServer(setup.mcp.url))
  if (setup.readOnly) args.push('--dangerously-bypass-hook-trust', '-c', writeHook(setup))
  for (const [name, value] of settings) args.push('-c', `${name}=${toml(value)}`)
  if (setup.model) args.push('--model', setup.model)
  if (setup.resumeSessionId) args.push('resume', setup.resumeSessionId)
  args.push(...setup.imagePaths.map((path) => `--image=${path}`), '--', '-')
  return {
    command: nativeBinary(path) ?? 'codex',
    args,
    before,
    env: {
      CODEX_HOME: codexHome,
      ROOST_BROKER_TOKEN: setup.broker.token,
      ROOST_MCP_KEY: setup.mcp?.key ?? null,
      OPENAI_API_KEY: null,
      CODEX_API_KEY: null,
    },
  }
}

/**
 * Each process has its own home, because parallel ones have different instructions. The threads are shared.
 * Returns the shell code that links them.
 */
async function prepareCodexHome(setup: Setup, home: string): Promise<string> {
  const threads = join(setup.places.state, 'sessions')
  await mkdir(home, { recursive: true })
  // The reader gets no servers: they contain credentials that only the developer may read.
  const servers = setup.readOnly ? '' : codexServers(setup.servers)
  const instructions = `developer_instructions = ${toml(setup.systemPrompt)}\n`
  await writeFile(join(home, 'config.toml'), instructions + servers, { mode: 0o600 })
  return `${folderScript(threads)}\n${linkScript(threads, join(home, 'sessions'))}`
}

function provider({ broker }: Setup): string {
  const fields = [
    'name="roost"',
    `base_url=${toml(`${broker.url}/openai/v1`)}`,
    'wire_api="responses"',
    'env_key="ROOST_BROKER_TOKEN"',
    `request_max_retries=${retries}`,
    `stream_max_retries=${retries}`,
  ]
  return `model_providers.roost={${fields.join(',')}}`
}

function mcpServer(url: string): string {
  return `mcp_servers.roost={url=${toml(url)},bearer_token_env_var="ROOST_MCP_KEY",startup_timeout_sec=${serverStartSeconds}}`
}

/** Patches arrive in their own tool or in a shell command. The hook allows all other commands. */
function writeHook(setup: Setup): string {
  const command = toml(hookCommand(setup, 'codex'))
  return `hooks.PreToolUse=[{matcher="apply_patch|Write|Edit|Bash",hooks=[{type="command",command=${command},timeout=10}]}]`
}

/** The `codex` command is a script that starts this binary; calling the binary saves starting Node. */
function nativeBinary(path: string): string | null {
  const target = { x64: 'x86_64', arm64: 'aarch64' }[process.arch as string]
  const script = path
    .split(delimiter)
    .map((folder) => join(folder, 'codex'))
    .find((candidate) => existsSync(candidate))
  if (!target || !script) return null
  const root = dirname(dirname(realpathSync(script)))
  const inside = join(
    `@openai/codex-linux-${process.arch}`,
    'vendor',
    `${target}-unknown-linux-musl`,
    'bin',
    'codex',
  )
  return (
    [join(root, '..', '..', inside), join(root, 'node_modules', inside)].find((path) => existsSync(path)) ??
    null
  )
}
