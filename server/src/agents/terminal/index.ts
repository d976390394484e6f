/**
 * Terminal: a shell in an agent's container, in the hands of its owner or an admin.
 *
 * Owns no table. Promises that nobody else opens one, that it lives no longer than the session it was opened with,
 * the right to it, the agent's run and half an hour of silence, and that neither a program that writes without end
 * nor a client that reads nothing costs more than a piece of memory. What was started in it ends with it. Refuses to
 * know what is typed: nothing of that is kept or logged.
 */
export { terminalSocketRoutes } from './socket-routes.ts'
export { createTerminals, type Terminals, type TerminalsDeps } from './terminals.ts'
