import { TerminalResize, type TerminalSize, terminalCloseCodes } from '@roost/contracts/agents/terminal'
import type { ExecOpenAnswer } from '@roost/contracts/link/exec'

/** How a socket is closed: a code and a sentence of at most 123 bytes. */
export type Closing = { close: number; reason: string }

export const closings = {
  bad_ticket: { close: terminalCloseCodes.badTicket, reason: 'the ticket is not valid' },
  session_ended: { close: terminalCloseCodes.badTicket, reason: 'the session has ended' },
  // Also used for unknown agents, so that callers without access learn nothing.
  not_owner: {
    close: terminalCloseCodes.notOwner,
    reason: 'only a session of the owner or an admin may open a terminal',
  },
  stopped: { close: terminalCloseCodes.stopped, reason: 'the agent is not running' },
  idle: { close: terminalCloseCodes.idle, reason: 'nothing has happened for half an hour' },
  outdated: {
    close: terminalCloseCodes.outdated,
    reason: 'the container of this agent is too old for a terminal: restart the agent',
  },
  too_many: { close: terminalCloseCodes.tooMany, reason: 'the maximum number of terminals is already open' },
  unavailable: {
    close: terminalCloseCodes.failed,
    reason: 'this container cannot open a terminal',
  },
  unresponsive: { close: terminalCloseCodes.failed, reason: 'the agent does not answer' },
  lost: {
    close: terminalCloseCodes.failed,
    reason: 'the terminal was lost because the program of the agent restarted',
  },
  slow: { close: terminalCloseCodes.failed, reason: 'the client stopped reading' },
  unknown: { close: terminalCloseCodes.failed, reason: 'the access could not be verified' },
  failed: { close: terminalCloseCodes.failed, reason: 'the platform failed' },
  stopping: { close: terminalCloseCodes.stopping, reason: 'the platform is stopping' },
  left: { close: terminalCloseCodes.ended, reason: '' },
} as const satisfies Record<string, Closing>

export function closingOfExit(code: number): Closing {
  return { close: terminalCloseCodes.ended, reason: `exit ${code}` }
}

/** Null: the terminal is open. */
export function closingOfOpen({ outcome }: ExecOpenAnswer): Closing | null {
  return outcome === 'opened' ? null : closings[outcome]
}

/** `resize` is null for an invalid size. */
export type FromClient = { resize: TerminalSize | null } | { typed: Buffer }

/** Only text frames can be a resize, so pasted bytes are never mistaken for one. */
export function readFrame(data: Buffer, isBinary: boolean): FromClient {
  const message = isBinary || data.length > maxResizeBytes ? null : parse(data)
  if (typeof message !== 'object' || message === null || !('type' in message) || message.type !== 'resize') {
    return { typed: data }
  }
  const size = TerminalResize.safeParse(message)
  return { resize: size.success ? { cols: size.data.cols, rows: size.data.rows } : null }
}

const maxResizeBytes = 200

function parse(data: Buffer): unknown {
  try {
    return JSON.parse(data.toString())
  } catch {
    return null
  }
}

/** Bytes that pass without delay. Beyond them, output is limited to `bytesPerSecond`. */
const burstBytes = 256 * 1024
export const bytesPerSecond = 1024 * 1024

/**
 * Returns how long to wait before reading more. Unlimited output would block the agent's link and the
 * reader's browser. `now` is in milliseconds.
 */
export function createPace(): (bytes: number, now: number) => number {
  let backlogBytes = 0
  let at = 0
  return (bytes, now) => {
    backlogBytes = Math.max(0, backlogBytes - ((now - at) * bytesPerSecond) / 1000) + bytes
    at = now
    return backlogBytes <= burstBytes ? 0 : Math.ceil(((backlogBytes - burstBytes) * 1000) / bytesPerSecond)
  }
}
