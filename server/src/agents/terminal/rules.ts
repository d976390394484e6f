import { TerminalResize, type TerminalSize, terminalCloseCodes } from '@roost/contracts/agents/terminal'
import type { ExecOpenAnswer } from '@roost/contracts/link/exec'

/** How a socket is closed: a code, and a sentence of at most 123 bytes. */
export type Closing = { close: number; reason: string }

export const closings = {
  bad_ticket: { close: terminalCloseCodes.badTicket, reason: 'the ticket is not valid' },
  session_ended: { close: terminalCloseCodes.badTicket, reason: 'the session has ended' },
  // The same for an agent that is not there: who cannot reach one does not learn of it.
  not_owner: {
    close: terminalCloseCodes.notOwner,
    reason: 'a session of the owner or of an admin is needed',
  },
  stopped: { close: terminalCloseCodes.stopped, reason: 'the agent is not running' },
  idle: { close: terminalCloseCodes.idle, reason: 'nothing has happened for half an hour' },
  outdated: {
    close: terminalCloseCodes.outdated,
    reason: 'the container of this agent is too old for a terminal: restart the agent',
  },
  too_many: { close: terminalCloseCodes.tooMany, reason: 'as many terminals are open here as there may be' },
  unavailable: {
    close: terminalCloseCodes.failed,
    reason: 'this container has nothing to make a terminal with',
  },
  unresponsive: { close: terminalCloseCodes.failed, reason: 'the agent does not answer' },
  gone: {
    close: terminalCloseCodes.failed,
    reason: 'the terminal is gone: the program of the agent began anew',
  },
  slow: { close: terminalCloseCodes.failed, reason: 'the client takes nothing any more' },
  unknown: { close: terminalCloseCodes.failed, reason: 'it could not be made sure who this is' },
  failed: { close: terminalCloseCodes.failed, reason: 'the platform could not go on' },
  stopping: { close: terminalCloseCodes.stopping, reason: 'the platform stops' },
  left: { close: terminalCloseCodes.ended, reason: '' },
} as const satisfies Record<string, Closing>

export function closingOfExit(code: number): Closing {
  return { close: terminalCloseCodes.ended, reason: `exit ${code}` }
}

/** Null: the terminal is there. */
export function closingOfOpen({ outcome }: ExecOpenAnswer): Closing | null {
  return outcome === 'opened' ? null : closings[outcome]
}

/** `resize` is null for a size that is none. */
export type FromClient = { resize: TerminalSize | null } | { typed: Buffer }

/** Only a text can be a new size: what is pasted in bytes is never taken for one. */
export function readFrame(data: Buffer, isBinary: boolean): FromClient {
  const said = isBinary || data.length > longestResize ? null : parse(data)
  if (typeof said !== 'object' || said === null || !('type' in said) || said.type !== 'resize') {
    return { typed: data }
  }
  const size = TerminalResize.safeParse(said)
  return { resize: size.success ? { cols: size.data.cols, rows: size.data.rows } : null }
}

const longestResize = 200

function parse(data: Buffer): unknown {
  try {
    return JSON.parse(data.toString())
  } catch {
    return null
  }
}

/** What leaves at once however fast it comes; and how fast what is beyond it follows, in bytes a second. */
const burst = 256 * 1024
export const bytesPerSecond = 1024 * 1024

/**
 * How long to wait before more is read, so that a program that writes without end keeps neither the agent's link nor
 * the reader's browser from other work. `now` is in milliseconds.
 */
export function createPace(): (bytes: number, now: number) => number {
  let owed = 0
  let at = 0
  return (bytes, now) => {
    owed = Math.max(0, owed - ((now - at) * bytesPerSecond) / 1000) + bytes
    at = now
    return owed <= burst ? 0 : Math.ceil(((owed - burst) * 1000) / bytesPerSecond)
  }
}
