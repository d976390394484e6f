import { randomUUID } from 'node:crypto'
import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { objectOf, textOf } from '../json.ts'
import { type CliAnswer, makePlace, type OpenCli, RED_DOT, runCli } from './cli-process.ts'

/** Runs `claude` with prompts as JSON lines. */
export const openClaude: OpenCli = async ({ url, key, tools }) => {
  const place = await makePlace()
  const servers = { mcpServers: tools ? { roost: { type: 'http', ...remote(tools) } } : {} }
  await place.write('.mcp-servers.json', JSON.stringify(servers))
  const session = randomUUID()
  return {
    ...place,
    async ask({ text, isResumed, withImage, model, isTriedOnce }) {
      const image = { type: 'image', source: { type: 'base64', media_type: 'image/png', data: RED_DOT } }
      const content = [{ type: 'text', text }, ...(withImage ? [image] : [])]
      const lines = await runCli({
        name: 'claude',
        args: [
          ...CLAUDE_OPTIONS,
          ...option('--model', model),
          ...(tools ? ['--strict-mcp-config', '--mcp-config', place.path('.mcp-servers.json')] : []),
          isResumed ? '--resume' : '--session-id',
          session,
        ],
        env: {
          ...claudeEnvironment({ url, key, home: place.home }),
          ...(isTriedOnce ? { CLAUDE_CODE_MAX_RETRIES: '0' } : {}),
        },
        cwd: place.workspace,
        stdin: `${JSON.stringify({ type: 'user', message: { role: 'user', content } })}\n`,
      })
      const result = objectOf(lines.findLast((line) => line.type === 'result'))
      return { text: textOf(result.result), isError: result.is_error !== false, lines }
    },
  }
}

export const CLAUDE_OPTIONS = [
  '-p',
  '--input-format',
  'stream-json',
  '--output-format',
  'stream-json',
  '--verbose',
  '--include-partial-messages',
  '--dangerously-skip-permissions',
]

/** Without optional traffic, but with default retries, which `x-should-retry` must stop. */
export function claudeEnvironment({ url, key, home }: { url: string; key: string; home: string }) {
  return {
    HOME: home,
    ANTHROPIC_BASE_URL: url,
    ANTHROPIC_API_KEY: key,
    CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1',
    // Otherwise these permissions are refused for root.
    IS_SANDBOX: '1',
  }
}

/** Runs one `gemini` process per prompt. */
export const openGemini: OpenCli = async ({ url, key, tools }) => {
  const place = await makePlace()
  const session = randomUUID()
  await mkdir(join(place.home, '.gemini'))
  const entry = tools && { httpUrl: tools.url, headers: remote(tools).headers }
  const servers = entry ? { mcpServers: { roost: entry } } : {}
  await writeFile(
    join(place.home, '.gemini/settings.json'),
    JSON.stringify({ ...GEMINI_SETTINGS, ...servers }),
  )
  return {
    ...place,
    async ask({ text, isResumed, withImage, model = 'gemini-2.5-pro' }) {
      const prompt = withImage ? `${text} @red.png` : text
      const from = isResumed ? '--resume' : '--session-id'
      const lines = await runCli({
        name: 'gemini',
        args: ['-p', prompt, '-m', model, '-o', 'stream-json', '--skip-trust', '--yolo', from, session],
        env: {
          HOME: place.home,
          GEMINI_CLI_NO_RELAUNCH: 'true',
          GEMINI_API_KEY: key,
          GOOGLE_GEMINI_BASE_URL: url,
        },
        cwd: place.workspace,
      })
      const messages = lines.filter((line) => line.type === 'message' && line.role === 'assistant')
      const result = objectOf(lines.findLast((line) => line.type === 'result'))
      return {
        text: messages.map((line) => textOf(line.content)).join(''),
        isError: result.status !== 'success',
        lines,
      }
    },
  }
}

/** One attempt: the CLI ignores `x-should-retry` and retries for a minute after a 500. */
const GEMINI_SETTINGS = {
  security: { auth: { selectedType: 'gemini-api-key' } },
  privacy: { usageStatisticsEnabled: false },
  general: { enableAutoUpdate: false, maxAttempts: 1 },
}

/** Runs one `codex` process per prompt. */
export const openCodex: OpenCli = async ({ url, key, tools }) => {
  const place = await makePlace()
  await mkdir(join(place.home, '.codex'))
  const servers = tools
    ? `[mcp_servers.roost]\nurl = "${tools.url}"\nbearer_token_env_var = "ROOST_KEY"\n`
    : ''
  await writeFile(join(place.home, '.codex/config.toml'), codexConfig(url) + servers)
  let thread = ''
  return {
    ...place,
    async ask({ text, isResumed, withImage, model = 'gpt-5.5' }) {
      const options = ['exec', '--json', '--skip-git-repo-check', '-m', model]
      const resumed = isResumed ? ['resume', thread] : []
      const image = withImage ? ['--image=red.png'] : []
      const lines = await runCli({
        name: 'codex',
        args: [...options, ...resumed, ...image, '--', text],
        env: { HOME: place.home, OPENAI_API_KEY: key, ...(tools ? { ROOST_KEY: tools.key } : {}) },
        cwd: place.workspace,
      })
      thread = textOf(lines.find((line) => line.type === 'thread.started')?.thread_id) || thread
      return codexAnswer(lines)
    },
  }
}

function codexAnswer(lines: CliAnswer['lines']): CliAnswer {
  const items = lines.filter((line) => line.type === 'item.completed').map((line) => objectOf(line.item))
  const messages = items.filter((item) => item.type === 'agent_message')
  return {
    text: messages.map((item) => textOf(item.text)).join('\n'),
    isError: !lines.some((line) => line.type === 'turn.completed'),
    lines,
  }
}

function codexConfig(url: string): string {
  return `model_provider = "scripted"
sandbox_mode = "danger-full-access"
approval_policy = "never"
check_for_update_on_startup = false
[features]
plugins = false
apps = false
[analytics]
enabled = false
[model_providers.scripted]
name = "scripted"
base_url = "${url}/v1"
wire_api = "responses"
env_key = "OPENAI_API_KEY"
request_max_retries = 0
stream_max_retries = 0
`
}

function remote({ url, key }: { url: string; key: string }) {
  return { url, headers: { Authorization: `Bearer ${key}` } }
}

function option(name: string, value: string | undefined): string[] {
  return value === undefined ? [] : [name, value]
}
