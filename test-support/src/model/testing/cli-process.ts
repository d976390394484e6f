import { spawn } from 'node:child_process'
import { existsSync } from 'node:fs'
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { text } from 'node:stream/consumers'
import { isObject, type JsonObject } from '../json.ts'

/** What a CLI said to one prompt. */
export type CliAnswer = { text: string; isError: boolean; lines: JsonObject[] }

export type CliPrompt = {
  text: string
  /** Goes on with the conversation of the earlier prompts. */
  isResumed?: boolean
  withImage?: boolean
  model?: string
  /** The CLI is not to try again by itself, also where it would by default. */
  isTriedOnce?: boolean
}

/** One real CLI with a home and a workspace of its own, pointed at a model server. */
export type Cli = {
  ask: (prompt: CliPrompt) => Promise<CliAnswer>
  /** A path in its workspace, as the CLI sees it. */
  path: (file: string) => string
  read: (file: string) => Promise<string>
  write: (file: string, content: string) => Promise<void>
  close: () => Promise<void>
}

/** Opens one CLI; `key` is what it is to send. */
export type OpenCli = (server: { url: string; key: string }) => Promise<Cli>

/** Why the suites of the real CLIs are skipped; false when they are not. */
export function whyNoCli(name: string): string | false {
  const folder = process.env.ROOST_TEST_CLIS
  if (!folder) return 'ROOST_TEST_CLIS is not set to a folder whose node_modules/.bin holds the CLIs'
  return existsSync(binary(name)) ? false : `${binary(name)} does not exist`
}

/** A home and a workspace with a picture, `red.png`, in it; both vanish on close. */
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

/** A picture of one pixel. */
export const RED_DOT =
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8BQDwAEhQGAhKmMIQAAAABJRU5ErkJggg=='

/**
 * Runs a CLI to its end in a clean environment and returns its lines of JSON. Killed after a minute: no prompt of a
 * test takes a tenth of it.
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
    timeout: 60_000,
  })
  child.stdin.on('error', () => {}) // a CLI that fails at once does not read
  child.stdin.end(stdin)
  const [stdout, stderr] = await Promise.all([text(child.stdout), text(child.stderr)])
  const lines = stdout.split('\n').flatMap(parseLine)
  if (lines.length === 0) throw new Error(`${name} said nothing: ${stderr.slice(-2000)}`)
  return lines
}

/** Where a CLI lies. */
export function binary(name: string): string {
  return join(process.env.ROOST_TEST_CLIS ?? '', 'node_modules/.bin', name)
}

/** The CLIs written in JavaScript run with the Node that runs the test. */
export function cliPath(): string {
  return `${dirname(process.execPath)}:/usr/local/bin:/usr/bin:/bin`
}

/** The object on a line; none when it is not JSON. */
export function parseLine(line: string): JsonObject[] {
  try {
    const value: unknown = JSON.parse(line)
    return isObject(value) ? [value] : []
  } catch {
    return []
  }
}
