/**
 * What runs are told of their agent: limits, model, instructions, whom it may call, and what must not be seen. Answers
 * from memory what may be a moment old; whether an agent was told to stop is read in the transaction that asks.
 */
export { type AgentFact, type AgentFacts, createFacts } from './facts.ts'
