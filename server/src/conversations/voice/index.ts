/**
 * Voice: calls of people with agents, through a model that listens and speaks.
 *
 * Owns the tables `agent_voices`, `voice_calls` and `voice_asks`; what is said lies in the messages of chat.
 * Promises that a call belongs to one conversation of one person, that each line is kept as it is said and once,
 * that an answer which nobody heard can be read afterwards, and that a call ends when its person may not use the
 * agent any more. The model is the voice alone: for what the agent knows and does it asks the agent, by a run like
 * any other.
 */
export { voiceRoutes } from './routes.ts'
/** How a voice gets at its agent, in calls by telephone as well. */
export { askedOf, asksAtOnce, askTool, longestAsk } from './rules.ts'
export { createVoice, type Voice, type VoiceDeps } from './service.ts'
export { voiceSocketRoutes } from './socket-routes.ts'
