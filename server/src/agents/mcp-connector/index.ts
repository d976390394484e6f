/**
 * Connector: an agent offered to somebody else's MCP client.
 *
 * Owns whether an agent is offered, which playbooks, and the minting of keys for it. Promises that such a key
 * reaches this agent alone and finds nothing while the connector is off. Refuses to know what a playbook is.
 */
export { mcpConnectorRoutes } from './routes.ts'
export { createMcpConnectors, type McpConnectorDeps, type McpConnectors } from './service.ts'
