import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { converseAcp } from './gemini-acp.ts'
import { prepareGeminiHome } from './gemini-home.ts'
import { converseLines } from './gemini-lines.ts'
import type { Launch, Runtime, Setup } from './port.ts'

/**
 * Runs Gemini CLI. Tasks and read-only turns are headless processes. Conversations use the Agent Client
 * Protocol, because starting this CLI takes over a second. Hooks do not run in that mode, so read-only turns
 * do not use it.
 */
export function createGemini({ compileCache }: { compileCache: string | null }): Runtime {
  return {
    name: 'gemini-cli',
    command: 'gemini',
    reads: ['.gemini'],
    keepsAlive: isLive,
    prepare: (setup) => prepare(setup, compileCache),
    converse: (setup, now) => (isLive(setup) ? converseAcp(setup, now) : converseLines(setup)),
  }
}

/** Without a model the CLI asks another model to choose one, and that call is billed. */
export const defaultGeminiModel = 'gemini-2.5-pro'

function isLive(setup: Setup): boolean {
  return setup.kind === 'chat' && setup.readOnly === null
}

async function prepare(setup: Setup, compileCache: string | null): Promise<Launch> {
  const { geminiHome, images, before } = await prepareGeminiHome(setup)
  const args = ['--model', setup.model ?? defaultGeminiModel, '--skip-trust', '--yolo']
  if (isLive(setup)) args.push('--acp')
  else args.push('--output-format', 'stream-json', '--include-directories', images)
  if (!isLive(setup) && setup.resumeSessionId) args.push('--resume', setup.resumeSessionId)
  return {
    command: 'gemini',
    args,
    before,
    env: {
      GEMINI_CLI_HOME: geminiHome,
      GEMINI_CLI_SYSTEM_SETTINGS_PATH: systemSettings,
      GEMINI_API_KEY: setup.broker.token,
      GOOGLE_GEMINI_BASE_URL: `${setup.broker.url}/google`,
      ROOST_MCP_KEY: setup.mcp?.key ?? null,
      // Otherwise it starts a second time, with twice the time and memory.
      GEMINI_CLI_NO_RELAUNCH: 'true',
      // Compilation takes a fifth of its start.
      // Node has one cache per user, and nobody else may fill it.
      NODE_COMPILE_CACHE: setup.isOwner ? compileCache : join(setup.places.state, 'compile-cache'),
      GOOGLE_API_KEY: null,
      GOOGLE_GENAI_USE_VERTEXAI: null,
      GEMINI_MODEL: null,
      NO_COLOR: '1',
    },
  }
}

/** Stored next to the program and owned by root, so that workspace settings cannot override it. */
const systemSettings = fileURLToPath(new URL('./gemini-settings.json', import.meta.url))
