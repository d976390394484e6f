/**
 * Terminal: a shell in an agent's container for its owner or an admin.
 *
 * Owns no table. Nobody else can open one. It ends with the login session, the access right, the agent's run,
 * or after half an hour of inactivity. Neither endless output nor a client that stops reading uses more than
 * a bounded amount of memory. Its processes end with it. Input and output are never stored or logged.
 */

export { createTerminals, type Terminals, type TerminalsDeps } from './service.ts'
export { terminalSocketRoutes } from './socket-routes.ts'
