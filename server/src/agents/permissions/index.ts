/**
 * Permissions: the matrix of which agent may call which.
 *
 * Owns the table `agent_permissions`. There are no default edges. Granting one needs access to both agents,
 * and a withdrawal takes effect at the next call. An agent can always access itself without an edge.
 */
export { createEdges, type Edges } from './edges.ts'
export { permissionRoutes } from './routes.ts'
export { createPermissions, type Permissions } from './service.ts'
