import { z } from 'zod'
import type { Access } from '../kit/access.ts'

/** `GET …/terminal?ticket=…`, a WebSocket: one shell in the container of a running agent. */
export const terminalPath = '/api/agents/{name}/terminal'

/** Shells are for signed-in people; keys are refused. */
export const terminalAccess: Access = { who: 'owner', gate: 'human' }

/** A terminal without input and output for this time is closed. */
export const terminalIdleSeconds = 1800
/** Maximum bytes per message. */
export const terminalFrameLimit = 256 * 1024
export const defaultTerminalSize = { cols: 80, rows: 24 } as const

/** Close codes of a terminal. */
export const terminalCloseCodes = {
  /** The shell has exited; the reason is `exit` and its code. */
  ended: 1000,
  /** The platform is stopping: open a new terminal. */
  stopping: 1001,
  /** The agent does not respond, the terminal is lost, or the client no longer reads. */
  failed: 1011,
  /** Invalid, used or expired ticket; the session has ended. */
  badTicket: 4001,
  /** Neither the agent's owner nor an admin with a session, or the agent is unknown to the caller. */
  notOwner: 4003,
  /** The agent is not running. */
  stopped: 4004,
  /** No input and output for `terminalIdleSeconds`. */
  idle: 4008,
  /** The container's image is too old for terminals: a restart updates it. */
  outdated: 4026,
  /** The agent has reached its limit of open terminals. */
  tooMany: 4029,
} as const

const side = z.number().int().min(1).max(1000)

/** A text message of a client; binary messages are terminal input. */
export const TerminalResize = z.object({ type: z.literal('resize'), cols: side, rows: side })
export type TerminalSize = { cols: number; rows: number }
