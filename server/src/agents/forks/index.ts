/** Forks: a new agent with the workspace, settings and skills of another one. */
export type { ForkedFrom, ForkRequest, Forks } from './port.ts'
