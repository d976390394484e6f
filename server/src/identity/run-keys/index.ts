/**
 * Run keys: the key that the turns of a run use for the API and the MCP server.
 *
 * A key is derived with a key of the installation, so none is stored. It is accepted only while its run is
 * running; the key of a chat, while a turn of its conversation is running.
 */
export { createRunKeys, type RunKeyAgent, type RunKeys, type RunKeysDeps } from './service.ts'
export { isRunKeyText, type RunOf, runOf } from './text.ts'
