/** Requests for terminals in a container. A terminal is one shell on a pseudo-terminal. */

/** Concurrent terminals per agent. */
export const maxTerminals = 8
/** Bytes of input or output per message, before base64. */
export const terminalChunkBytes = 64 * 1024
/** Longest time that an agent waits for output before it returns an empty answer. */
export const terminalWaitSeconds = 15
/** A terminal without requests for this long is ended with all its processes. */
export const terminalAbandonedSeconds = 60

/** `terminal_id` is chosen by the opener and known to nobody else. */
export type ExecOpen = { t: 'exec.open'; terminal_id: string; cols: number; rows: number }
/** `unavailable`: the container cannot provide a terminal. */
export type ExecOpenAnswer = { outcome: 'opened' | 'too_many' | 'unavailable' }
/**
 * Input that starts at byte `offset` of all input. Bytes already received are skipped, so a repeated request
 * types once.
 */
export type ExecData = { t: 'exec.data'; terminal_id: string; offset: number; data_base64: string }
/** Total bytes accepted so far; fewer than sent while the program in the terminal reads nothing. */
export type ExecDataAnswer = { taken: number }
/** Requests output from byte `offset` of all output. The last answered chunk can be requested again. */
export type ExecRead = { t: 'exec.read'; terminal_id: string; offset: number }
/**
 * Empty when nothing was written for `terminalWaitSeconds`. `ended` follows the last output. Its code is the
 * shell's, or 128 plus the signal number.
 */
export type ExecReadAnswer = { data_base64: string; ended: { exit_code: number } | null }
export type ExecResize = { t: 'exec.resize'; terminal_id: string; cols: number; rows: number }
/** Ends the shell and all its processes. A missing terminal counts as closed. */
export type ExecClose = { t: 'exec.close'; terminal_id: string }
