/**
 * MCP sessions that their clients have ended, for the MCP servers of all processes.
 *
 * Keeps marks in the store for short-lived data. Losing them loses no work: an ended session grants nothing, because
 * each request has its key checked.
 */
export { mcpSessionRoutes } from './routes.ts'
