/**
 * Voice: calls of people with agents, through a model that listens and speaks.
 * Owns the tables `agent_voices`, `voice_calls` and `voice_asks`; spoken lines are chat messages. A call belongs to one
 * conversation of one person and ends when that person loses access. Each line is stored once, as it is spoken; an
 * answer that was not spoken becomes a message. The model is only the voice: for knowledge and work it asks the agent,
 * by a normal run.
 */
export { voiceRoutes } from './routes.ts'
/** The tool through which a voice asks its agent; telephone calls use it too. */
export { askTool, maxOpenRequests, maxRequestLength, requestOf } from './rules.ts'
export { createVoice, type Voice, type VoiceDeps } from './service.ts'
export { voiceSocketRoutes } from './socket-routes.ts'
