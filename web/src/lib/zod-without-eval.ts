import { issueWords } from '@roost/contracts/kit/issue-words'

/**
 * Import this before any module that makes a schema. Zod probes `new Function` for its first object schema,
 * which the Content-Security-Policy blocks and reports. Writes zod's global config directly: the first page
 * loads no zod. Messages are those of the server.
 */
Object.assign(globalThis, { __zod_globalConfig: { jitless: true, customError: issueWords } })
