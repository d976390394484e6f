/** What dispatch needs to know of an agent. */
export type { AgentFact, AgentFacts } from '../../agents/facts/index.ts'
