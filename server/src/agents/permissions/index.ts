/**
 * Permissions: the matrix that says which agent may call which.
 *
 * Owns the table `agent_permissions`. Promises that there is no edge that nobody granted, that only who reaches
 * both ends grants one, and that a withdrawal counts from the next call. An agent always reaches itself: that
 * is no edge. Refuses to know what a call is: whoever lets agents call asks `Edges`.
 */
export { createEdges, type Edges } from './edges.ts'
export { permissionRoutes } from './routes.ts'
export { createPermissions, type Permissions } from './service.ts'
