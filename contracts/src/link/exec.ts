/** What the platform asks of the terminals in a container. A terminal is one shell at a pseudo-terminal. */

/** Terminals of one agent at once. */
export const maxTerminals = 8
/** Of input or output in one message, before base64. */
export const terminalChunkBytes = 64 * 1024
/** How long an agent waits for output at most before it answers that there is none. */
export const terminalWaitSeconds = 15
/** A terminal of which nothing was asked for so long is ended with all that was started in it. */
export const terminalAbandonedSeconds = 60

/** `terminal_id` is chosen by who opens it; nobody else knows it. */
export type ExecOpen = { t: 'exec.open'; terminal_id: string; cols: number; rows: number }
/** `unavailable`: the container has nothing to make a terminal with. */
export type ExecOpenAnswer = { outcome: 'opened' | 'too_many' | 'unavailable' }
/** Input that begins at byte `offset` of all input. What is there already is passed over: asking twice types once. */
export type ExecData = { t: 'exec.data'; terminal_id: string; offset: number; data_base64: string }
/** All input taken so far, in bytes; less than was sent while the program in the terminal reads nothing. */
export type ExecDataAnswer = { taken: number }
/** Output from byte `offset` of all output on; the piece that was answered last can be asked for once more. */
export type ExecRead = { t: 'exec.read'; terminal_id: string; offset: number }
/**
 * Empty while nothing was written for `terminalWaitSeconds`. `ended` comes behind the last output; its code is
 * that of the shell, 128 and the signal's number for one that was killed.
 */
export type ExecReadAnswer = { data_base64: string; ended: { exit_code: number } | null }
export type ExecResize = { t: 'exec.resize'; terminal_id: string; cols: number; rows: number }
/** Ends the shell and all that was started in it. One that is not there is closed already. */
export type ExecClose = { t: 'exec.close'; terminal_id: string }
