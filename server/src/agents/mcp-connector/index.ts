/**
 * Connector: offers an agent to external MCP clients.
 *
 * Owns whether an agent is offered, with which playbooks, and the creation of its keys. Such a key can access
 * only this agent, and nothing while the connector is off. Playbooks themselves are unknown here.
 */
export { mcpConnectorRoutes } from './routes.ts'
export { createMcpConnectors, type McpConnectorDeps, type McpConnectors } from './service.ts'
