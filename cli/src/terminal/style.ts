import { styleText } from 'node:util'

const modes = ['auto', 'always', 'never'] as const
type ColorMode = (typeof modes)[number]
type Format = Parameters<typeof styleText>[0]
type Output = { isTTY?: boolean }

let mode: ColorMode = 'auto'
let isPlain = false

/**
 * Reads `--color[=auto|always|never]` and `--no-color` and returns the other arguments. Arguments after `--` are not
 * options. Returns null for an invalid value.
 */
export function takeColorOption(args: readonly string[]): string[] | null {
  const end = args.includes('--') ? args.indexOf('--') : args.length
  const rest: string[] = []
  for (const arg of args.slice(0, end)) {
    const value = /^--color(?:=(.*))?$/.exec(arg)
    if (arg === '--no-color') mode = 'never'
    else if (value) {
      const found = modes.find((each) => each === (value[1] ?? 'always'))
      if (!found) return null
      mode = found
    } else rest.push(arg)
  }
  return [...rest, ...args.slice(end)]
}

/** Turns colour and symbols off for the rest of the process, for output that programs read. */
export function usePlainOutput(): void {
  isPlain = true
}

/**
 * Decides about colour and symbols: the option, then `NO_COLOR`, then `FORCE_COLOR` or `CLICOLOR_FORCE`. Otherwise
 * they are for terminals other than dumb ones.
 */
export function hasColor(output: Output = process.stdout, env: NodeJS.ProcessEnv = process.env): boolean {
  if (isPlain || mode === 'never') return false
  if (mode === 'always') return true
  if (env.NO_COLOR) return false
  const forced = env.FORCE_COLOR ?? env.CLICOLOR_FORCE
  if (forced !== undefined && forced !== '0' && forced !== 'false') return true
  return output.isTTY === true && env.TERM !== 'dumb'
}

/** Colours text for an output that shows colour, otherwise returns it unchanged. */
export function styled(format: Format, text: string, output: Output = process.stdout): string {
  return hasColor(output) && text !== '' ? styleText(format, text, { validateStream: false }) : text
}

type Look = { symbol: string; format: Format }
const good: Look = { symbol: '✓', format: 'green' }
const active: Look = { symbol: '●', format: 'green' }
const bad: Look = { symbol: '✗', format: 'red' }
const waiting: Look = { symbol: '◌', format: 'yellow' }
const off: Look = { symbol: '○', format: 'gray' }

/** How words for states look. Other words have no symbol. */
const looks: Record<string, Look> = {
  success: good,
  done: good,
  completed: good,
  injected: good,
  running: active,
  active,
  on: active,
  leading: active,
  failed: bad,
  failure: bad,
  error: bad,
  critical: bad,
  conflict: bad,
  queued: waiting,
  pending: waiting,
  pending_retry: waiting,
  in_progress: waiting,
  starting: waiting,
  stopping: waiting,
  warning: { symbol: '!', format: 'yellow' },
  stopped: off,
  inactive: off,
  off,
  cancelled: off,
  skipped: off,
  acknowledged: off,
  dismissed: off,
}

/** Returns the symbol and colour of a state; null without colour and for unknown words. */
function lookOf(state: string): Look | null {
  return hasColor() && Object.hasOwn(looks, state) ? (looks[state] ?? null) : null
}

/** Adds its symbol to the word of a state, without colour, so that columns can be aligned. */
export function withSymbol(state: string): string {
  const look = lookOf(state)
  return look ? `${look.symbol} ${state}` : state
}

/** Colours `text` as the state it contains. */
export function inColorOf(state: string, text: string): string {
  const look = lookOf(state)
  return look ? styled(look.format, text) : text
}
