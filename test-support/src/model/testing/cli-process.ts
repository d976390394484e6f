import { spawn } from 'node:child_process'
import { existsSync } from 'node:fs'
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { text } from 'node:stream/consumers'
import { isObject, type JsonObject } from '../json.ts'

/** A CLI's answer to one prompt. */
export type CliAnswer = { text: string; isError: boolean; lines: JsonObject[] }

export type CliPrompt = {
  text: string
  /** Continues the conversation of earlier prompts. */
  isResumed?: boolean
  withImage?: boolean
  model?: string
  /** Disables the CLI's own retries, even the default ones. */
  isTriedOnce?: boolean
}

/** A real CLI with its own home and workspace, connected to a model server. */
export type Cli = {
  ask: (prompt: CliPrompt) => Promise<CliAnswer>
  /** A path in its workspace, as the CLI sees it. */
  path: (file: string) => string
  read: (file: string) => Promise<string>
  write: (file: string, content: string) => Promise<void>
  close: () => Promise<void>
}

/** Starts one CLI; `key` is the key that it sends. `tools`: an MCP server that it has under the name `roost`. */
export type OpenCli = (server: {
  url: string
  key: string
  tools?: { url: string; key: string }
}) => Promise<Cli>

/** Returns why the suites of the real CLIs are skipped, or false. */
export function whyNoCli(name: string): string | false {
  const folder = process.env.ROOST_TEST_CLIS
  if (!folder) return 'ROOST_TEST_CLIS is not set to a folder whose node_modules/.bin holds the CLIs'
  return existsSync(binary(name)) ? false : `${binary(name)} does not exist`
}

/** Creates a home and a workspace with the image `red.png`; both are deleted on close. */
export async function makePlace() {
  const root = await mkdtemp(join(tmpdir(), 'roost-cli-'))
  const home = join(root, 'home')
  const workspace = join(root, 'work')
  await mkdir(home)
  await mkdir(workspace)
  await writeFile(join(workspace, 'red.png'), Buffer.from(RED_DOT, 'base64'))
  return {
    home,
    workspace,
    path: (file: string) => join(workspace, file),
    read: (file: string) => readFile(join(workspace, file), 'utf8'),
    write: (file: string, content: string) => writeFile(join(workspace, file), content),
    close: () => rm(root, { recursive: true, force: true, maxRetries: 5 }),
  }
}

/** An image of one pixel. */
export const RED_DOT =
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8BQDwAEhQGAhKmMIQAAAABJRU5ErkJggg=='

/**
 * Runs a CLI to its end in a clean environment and returns its JSON lines. Killed after three minutes; on a
 * quiet machine prompts of tests take under six seconds.
 */
export async function runCli(input: {
  name: string
  args: string[]
  env: Record<string, string>
  cwd: string
  stdin?: string
}): Promise<JsonObject[]> {
  const { name, args, env, cwd, stdin = '' } = input
  const child = spawn(binary(name), args, {
    cwd,
    env: { PATH: cliPath(), LANG: 'C.UTF-8', ...env },
    timeout: 180_000,
  })
  child.stdin.on('error', () => {}) // a CLI that fails immediately does not read its input
  child.stdin.end(stdin)
  const [stdout, stderr] = await Promise.all([text(child.stdout), text(child.stderr)])
  const lines = stdout.split('\n').flatMap(parseLine)
  if (lines.length === 0) throw new Error(`${name} printed no JSON: ${stderr.slice(-2000)}`)
  return lines
}

/** Path of a CLI's command. */
export function binary(name: string): string {
  return join(process.env.ROOST_TEST_CLIS ?? '', 'node_modules/.bin', name)
}

/** CLIs written in JavaScript run with the Node of the test. */
export function cliPath(): string {
  return `${dirname(process.execPath)}:/usr/local/bin:/usr/bin:/bin`
}

/** Returns the JSON object of a line, or an empty list. */
export function parseLine(line: string): JsonObject[] {
  try {
    const value: unknown = JSON.parse(line)
    return isObject(value) ? [value] : []
  } catch {
    return []
  }
}
