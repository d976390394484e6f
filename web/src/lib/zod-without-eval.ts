/**
 * Import this before any module that makes a schema. Zod probes `new Function` for its first object schema,
 * which the Content-Security-Policy blocks and reports. Writes zod's global config directly: the first page
 * loads no zod.
 */
Object.assign(globalThis, { __zod_globalConfig: { jitless: true } })
