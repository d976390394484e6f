import { z } from 'zod'
import type { Access } from '../kit/access.ts'

/** `GET …/terminal?ticket=…`, a WebSocket: one shell in the container of a running agent. */
export const terminalPath = '/api/agents/{name}/terminal'

/** Whatever a key may do, a shell is for people who are there. */
export const terminalAccess: Access = { who: 'owner', gate: 'human' }

/** With nothing typed and nothing written for so long a terminal is closed. */
export const terminalIdleSeconds = 1800
/** The most that one message may carry. */
export const terminalFrameLimit = 256 * 1024
export const defaultTerminalSize = { cols: 80, rows: 24 } as const

/** With which codes the platform closes a terminal. */
export const terminalCloseCodes = {
  /** The shell has ended; the reason is `exit` and its code. */
  ended: 1000,
  /** The platform stops: open another one. */
  stopping: 1001,
  /** The agent does not answer, the terminal is gone, or the client takes nothing any more. */
  failed: 1011,
  /** Bad, used or expired ticket; the session has ended since. */
  badTicket: 4001,
  /** Neither the agent's owner nor an admin with a session; there is no such agent as far as the caller knows. */
  notOwner: 4003,
  /** The agent does not run (any more). */
  stopped: 4004,
  /** Nobody has typed and nothing was written for `terminalIdleSeconds`. */
  idle: 4008,
  /** The agent's container was made from an image that has no terminals yet: a restart gives it the present one. */
  outdated: 4026,
  /** As many terminals are open at this agent as there may be. */
  tooMany: 4029,
} as const

const side = z.number().int().min(1).max(1000)

/** What a client says in a text message; everything else that it sends is typed. */
export const TerminalResize = z.object({ type: z.literal('resize'), cols: side, rows: side })
export type TerminalSize = { cols: number; rows: number }
